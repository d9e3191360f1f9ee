#include "diff/resync.h"

#include <algorithm>
#include <map>
#include <utility>

#include "diff/alignment.h"

namespace simrt::diff {
namespace {

constexpr std::uint32_t kEqualCode = 4096;  // outweighs any number of same-name bonuses

/// When a lock and an access changed places, the lock is what moved: a reason that names the lock helps, and
/// the access is impacted either way. So elements with accesses are worth more to keep.
std::uint32_t worth(const Element& element) {
  const bool accesses = std::any_of(element.events.begin(), element.events.end(), [](const Event& event) {
    return std::holds_alternative<Access>(event.what);
  });
  return accesses ? 8 : 1;  // a guard is two or three elements
}

class Resync {
 public:
  Resync(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals, Matching& matching,
         Walk& walk)
      : before_(before), after_(after), locals_(locals), matching_(matching), walk_(walk) {}

  void run() {
    if (before_.size() == 0 || after_.size() == 0) return;
    pair_similar_stops();
    pair_equal_blocks();
    pair_similar_stops();
    if (matching_.both_free(before_.exit(), after_.exit()) &&
        locals_.match(before_.block(before_.exit()), after_.block(after_.exit()))) {
      matching_.pair_whole(before_.exit(), after_.exit());
      matching_.after[after_.exit()].resynced = true;
    }
    pair_moved_elements();
  }

 private:
  struct Segment {
    std::vector<ElementRef> old_items, new_items;
  };

  void pair_similar_stops();
  bool equal_one_elsewhere(const Stop& stop) const;
  void pair_equal_blocks();
  void pair_moved_elements();
  std::uint32_t block_weight(Position old_block, Position new_block) const;
  static std::vector<Segment> segments(const std::vector<ElementRef>& old_sequence,
                                       const std::vector<ElementRef>& new_sequence,
                                       const std::function<ElementRef(ElementRef)>& new_partner);
  std::vector<ElementRef> element_sequence(const FlowGraph& graph) const;

  const FlowGraph& before_;
  const FlowGraph& after_;
  LocalBijection& locals_;
  Matching& matching_;
  Walk& walk_;
};

/// An altered block that is still the same block: the walk goes on behind it.
void Resync::pair_similar_stops() {
  for (std::size_t i = 0; i < matching_.stops.size(); ++i) {  // resuming finds further stops
    const Stop stop = matching_.stops[i];
    if (!matching_.both_free(stop.old_block, stop.new_block) || equal_one_elsewhere(stop)) continue;
    if (pair_equal_elements(before_, after_, locals_, matching_, stop.old_block, stop.new_block) == 0)
      continue;
    matching_.pair_blocks(stop.old_block, stop.new_block);
    walk_.resume(stop.old_block, stop.new_block);
  }
}

/// True when either block has its exact twin among the free blocks: then something was inserted or removed
/// here.
bool Resync::equal_one_elsewhere(const Stop& stop) const {
  const std::uint64_t old_code = code_hash(before_.block(stop.old_block));
  const std::uint64_t new_code = code_hash(after_.block(stop.new_block));
  for (Position at = 0; at < after_.size(); ++at)
    if (matching_.after[at].partner == kNowhere && code_hash(after_.block(at)) == old_code) return true;
  for (Position at = 0; at < before_.size(); ++at)
    if (matching_.before[at].partner == kNowhere && code_hash(before_.block(at)) == new_code) return true;
  return false;
}

std::uint32_t Resync::block_weight(Position old_block, Position new_block) const {
  const Block& o = before_.block(old_block);
  const Block& n = after_.block(new_block);
  if (o.terminator != n.terminator || o.elements.size() != n.elements.size()) return 0;
  std::uint32_t weight = 1;
  for (std::size_t i = 0; i < o.elements.size(); ++i) {
    if (!locals_.could_match(o.elements[i], n.elements[i])) return 0;
    weight += 16 + (locals_.same_names(o.elements[i], n.elements[i]) ? 1 : 0);
  }
  return weight;
}

void Resync::pair_equal_blocks() {
  const auto blocks = [](const FlowGraph& graph) {
    std::vector<ElementRef> sequence;
    for (Position at : graph.order()) sequence.push_back({at, 0});
    return sequence;
  };
  const auto new_partner = [&](ElementRef item) {
    return ElementRef{matching_.before[item.block].partner, 0};
  };
  for (const Segment& segment : segments(blocks(before_), blocks(after_), new_partner)) {
    const auto weight = [&](std::size_t i, std::size_t j) {
      return block_weight(segment.old_items[i].block, segment.new_items[j].block);
    };
    for (const auto& [i, j] : align(segment.old_items.size(), segment.new_items.size(), weight)) {
      const Position o = segment.old_items[i].block, n = segment.new_items[j].block;
      // Resuming at an earlier pair may have taken these, or bound their locals otherwise.
      if (!matching_.both_free(o, n) || !locals_.match(before_.block(o), after_.block(n))) continue;
      matching_.pair_whole(o, n);
      walk_.resume(o, n);
    }
  }
}

void Resync::pair_moved_elements() {
  const auto new_partner = [&](ElementRef item) {
    return matching_.before[item.block].elements[item.element];
  };
  for (const Segment& segment : segments(element_sequence(before_), element_sequence(after_), new_partner)) {
    const auto element_of = [](const FlowGraph& graph, ElementRef item) -> const Element& {
      return graph.element(item.block, item.element);
    };
    const auto weight = [&](std::size_t i, std::size_t j) -> std::uint32_t {
      const Element& o = element_of(before_, segment.old_items[i]);
      const Element& n = element_of(after_, segment.new_items[j]);
      return locals_.could_match(o, n) ? kEqualCode + (locals_.same_names(o, n) ? 1 : 0) : 0;
    };
    for (const auto& [i, j] : align(segment.old_items.size(), segment.new_items.size(), weight)) {
      if (!locals_.match(element_of(before_, segment.old_items[i]), element_of(after_, segment.new_items[j])))
        continue;
      matching_.pair_elements(segment.old_items[i], segment.new_items[j], false);
      matching_.after[segment.new_items[j].block].resynced = true;
    }
  }
}

std::vector<ElementRef> Resync::element_sequence(const FlowGraph& graph) const {
  std::vector<ElementRef> sequence;
  for (Position at : graph.order())
    for (std::uint32_t i = 0; i < graph.block(at).elements.size(); ++i) sequence.push_back({at, i});
  return sequence;
}

/// Cuts both sequences at the pairs they already share. Between two cuts that keep their order, the free
/// items of both sides; nothing where a pair crosses over, because order is unclear there.
std::vector<Resync::Segment> Resync::segments(const std::vector<ElementRef>& old_sequence,
                                              const std::vector<ElementRef>& new_sequence,
                                              const std::function<ElementRef(ElementRef)>& new_partner) {
  std::map<std::pair<Position, std::uint32_t>, std::size_t> new_index;
  for (std::size_t i = 0; i < new_sequence.size(); ++i)
    new_index[{new_sequence[i].block, new_sequence[i].element}] = i;
  std::vector<std::size_t> shared_old, shared_new;
  std::vector<bool> new_free(new_sequence.size(), true);
  for (std::size_t i = 0; i < old_sequence.size(); ++i) {
    const ElementRef partner = new_partner(old_sequence[i]);
    if (!partner) continue;
    const std::size_t at = new_index.at({partner.block, partner.element});
    shared_old.push_back(i);
    shared_new.push_back(at);
    new_free[at] = false;
  }

  std::vector<Segment> result;
  std::size_t old_start = 0, new_start = 0;
  const auto close = [&](std::size_t old_end, std::size_t new_end) {
    Segment segment;
    bool crossed = false;
    for (std::size_t i = old_start; i < old_end; ++i) {
      if (new_partner(old_sequence[i]))
        crossed = true;
      else
        segment.old_items.push_back(old_sequence[i]);
    }
    for (std::size_t i = new_start; i < new_end; ++i) {
      if (!new_free[i])
        crossed = true;
      else
        segment.new_items.push_back(new_sequence[i]);
    }
    if (!crossed && !segment.old_items.empty() && !segment.new_items.empty())
      result.push_back(std::move(segment));
    old_start = old_end + 1;
    new_start = new_end + 1;
  };
  for (std::size_t i : longest_increasing(shared_new)) close(shared_old[i], shared_new[i]);
  close(old_sequence.size(), new_sequence.size());
  return result;
}

}  // namespace

void resync(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals, Matching& matching,
            Walk& walk) {
  Resync(before, after, locals, matching, walk).run();
}

std::size_t pair_equal_elements(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals,
                                Matching& matching, Position old_block, Position new_block) {
  const auto& old_elements = before.block(old_block).elements;
  const auto& new_elements = after.block(new_block).elements;
  const auto weight = [&](std::size_t i, std::size_t j) -> std::uint32_t {
    if (matching.before[old_block].elements[i] || matching.after[new_block].elements[j]) return 0;
    if (!locals.could_match(old_elements[i], new_elements[j])) return 0;
    return worth(old_elements[i]) * kEqualCode +
           (locals.same_names(old_elements[i], new_elements[j]) ? 1 : 0);
  };
  std::size_t count = 0;
  for (const auto& [i, j] : align(old_elements.size(), new_elements.size(), weight)) {
    if (!locals.match(old_elements[i], new_elements[j])) continue;
    matching.pair_elements({old_block, static_cast<std::uint32_t>(i)},
                           {new_block, static_cast<std::uint32_t>(j)}, false);
    ++count;
  }
  return count;
}

}  // namespace simrt::diff
