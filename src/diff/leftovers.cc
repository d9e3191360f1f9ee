#include "diff/leftovers.h"

#include <algorithm>

#include "diff/resync.h"

namespace simrt::diff {
namespace {

bool has_paired_element(const BlockSide& side) {
  return std::any_of(side.elements.begin(), side.elements.end(),
                     [](const ElementRef& element) { return bool(element); });
}

/// A block that begins with what was another block's code is that block, split or merged.
void pair_successors_in_code(const FlowGraph& after, Matching& matching) {
  for (Position at : after.order()) {
    if (matching.after[at].partner != kNowhere) continue;
    const Position home = matching.home(at);
    if (home != kNowhere && matching.both_free(home, at)) matching.pair_blocks(home, at);
  }
}

void pair_remaining_stops(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals,
                          Matching& matching) {
  for (const Stop& stop : matching.stops) {
    if (!matching.both_free(stop.old_block, stop.new_block)) continue;
    if (has_paired_element(matching.before[stop.old_block]) ||
        has_paired_element(matching.after[stop.new_block]))
      continue;
    matching.pair_blocks(stop.old_block, stop.new_block);
    pair_equal_elements(before, after, locals, matching, stop.old_block, stop.new_block);
  }
}

/// Elements without partner in [from, to), in order.
std::vector<std::uint32_t> free_between(const BlockSide& side, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = from; i < to; ++i)
    if (!side.elements[i]) result.push_back(i);
  return result;
}

void pair_altered_elements(Matching& matching, Position old_block, Position new_block) {
  const BlockSide& o = matching.before[old_block];
  const NewBlockSide& n = matching.after[new_block];
  std::uint32_t old_start = 0, new_start = 0;
  const auto close = [&](std::uint32_t old_end, std::uint32_t new_end) {
    const auto old_free = free_between(o, old_start, old_end), new_free = free_between(n, new_start, new_end);
    for (std::size_t i = 0; i < std::min(old_free.size(), new_free.size()); ++i)
      matching.pair_elements({old_block, old_free[i]}, {new_block, new_free[i]}, true);
    old_start = old_end + 1;
    new_start = new_end + 1;
  };
  for (std::uint32_t i = 0; i < n.elements.size(); ++i) {
    const ElementRef partner = n.elements[i];
    if (partner.block == old_block && partner.element >= old_start && !n.altered[i])
      close(partner.element, i);
  }
  close(static_cast<std::uint32_t>(o.elements.size()), static_cast<std::uint32_t>(n.elements.size()));
}

}  // namespace

void pair_leftovers(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals,
                    Matching& matching) {
  pair_successors_in_code(after, matching);
  pair_remaining_stops(before, after, locals, matching);
  for (Position at = 0; at < matching.after.size(); ++at)
    if (matching.after[at].partner != kNowhere)
      pair_altered_elements(matching, matching.after[at].partner, at);
}

}  // namespace simrt::diff
