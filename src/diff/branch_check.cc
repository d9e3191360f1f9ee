#include "diff/branch_check.h"

#include <algorithm>
#include <functional>
#include <set>

namespace simrt::diff {
namespace {

std::uint32_t last_index(const BlockSide& side) {
  return static_cast<std::uint32_t>(side.elements.size() - 1);
}

bool same_labels(const FlowGraph& before, Position old_block, const FlowGraph& after, Position new_block) {
  return before.arcs(old_block).size() == after.arcs(new_block).size() &&
         keeps_labels(before, old_block, after, new_block);
}

/// (old block, old element); kExitElement for the exit itself.
using Place = std::pair<Position, std::uint32_t>;
constexpr std::uint32_t kExitElement = UINT32_MAX;

/// The first paired elements behind a point, and whether unpaired conditions decide on the way there.
struct Landing {
  std::set<Place> places;
  bool branches = false;
};

/// One version's graph with what its elements are in the old one.
struct Side {
  const FlowGraph& graph;
  std::function<ElementRef(Position, std::uint32_t)> old_element;  ///< none when unpaired
  Position old_exit;

  /// From element `index` of `block` on, that element included.
  Landing land(Position block, std::uint32_t index) const {
    Landing landing;
    std::vector<Place> work{{block, index}};
    std::set<Position> seen;
    while (!work.empty()) {
      auto [at, element] = work.back();
      work.pop_back();
      const std::size_t count = graph.block(at).elements.size();
      while (element < count && !old_element(at, element)) ++element;
      if (element < count) {
        const ElementRef found = old_element(at, element);
        landing.places.emplace(found.block, found.element);
        continue;
      }
      if (at == graph.exit()) landing.places.emplace(old_exit, kExitElement);
      landing.branches |= graph.arcs(at).size() > 1 && count != 0;
      for (const Arc& arc : graph.arcs(at))
        if (seen.insert(arc.target).second) work.emplace_back(arc.target, 0);
    }
    return landing;
  }
};

/// Inserted or removed code with branches of its own shows by itself what else can be reached.
bool explained(const Landing& before, const Landing& after) {
  const auto &o = before.places, &n = after.places;
  if (o == n) return true;
  if (after.branches && std::includes(n.begin(), n.end(), o.begin(), o.end())) return true;
  if (before.branches && std::includes(o.begin(), o.end(), n.begin(), n.end())) return true;
  return before.branches && after.branches &&
         std::any_of(o.begin(), o.end(), [&](const Place& place) { return n.contains(place); });
}

class BranchMarker {
 public:
  BranchMarker(const FlowGraph& before, const FlowGraph& after, Matching& matching)
      : before_(before),
        after_(after),
        matching_(matching),
        branches_(before, after, matching),
        old_side_{before,
                  [this](Position at, std::uint32_t i) {
                    return matching_.before[at].elements[i] ? ElementRef{at, i} : ElementRef{};
                  },
                  before.exit()},
        new_side_{after, [this](Position at, std::uint32_t i) { return matching_.after[at].elements[i]; },
                  before.exit()} {}

  void run() {
    std::vector<Position> changed;
    for (Position at = 0; at < after_.size(); ++at)
      if (branches_.partner(at) != kNowhere && differs(at, branches_.partner(at))) changed.push_back(at);
    std::vector<ElementRef> diverted;
    for (Position at = 0; at < after_.size(); ++at)
      for (std::uint32_t i = 0; i < matching_.after[at].elements.size(); ++i)
        if (matching_.status(at, i) == ElementStatus::Same && continues_elsewhere(at, i))
          diverted.push_back({at, i});
    for (Position at : changed) mark(at);
    for (const ElementRef& element : diverted) mark_element(element.block, element.element);
  }

 private:
  bool differs(Position new_block, Position old_block) const;
  bool continues_elsewhere(Position new_block, std::uint32_t element) const;
  bool removal_shows(Position new_block, Position old_block) const;
  void mark(Position new_block);
  bool mark_element(Position block, std::uint32_t element);
  bool mark_upstream(Position block);
  void mark_downstream(Position block);

  const FlowGraph& before_;
  const FlowGraph& after_;
  Matching& matching_;
  Branches branches_;
  Side old_side_, new_side_;
};

bool BranchMarker::differs(Position new_block, Position old_block) const {
  if (before_.block(old_block).terminator != after_.block(new_block).terminator ||
      !same_labels(before_, old_block, after_, new_block))
    return !removal_shows(new_block, old_block);
  for (const Arc& arc : before_.arcs(old_block))
    if (!explained(old_side_.land(arc.target, 0), new_side_.land(after_.find_arc(new_block, arc)->target, 0)))
      return true;
  return false;
}

/// A condition that is gone together with its branch is visible as a removed element.
bool BranchMarker::removal_shows(Position new_block, Position old_block) const {
  const BlockSide& old_side = matching_.before[old_block];
  return before_.arcs(old_block).size() > 1 && after_.arcs(new_block).size() <= 1 &&
         !old_side.elements.empty() && !old_side.elements.back();
}

/// What follows this element has changed, although it ends a block in at most one version.
bool BranchMarker::continues_elsewhere(Position new_block, std::uint32_t element) const {
  const ElementRef old = matching_.after[new_block].elements[element];
  const bool new_end = element == last_index(matching_.after[new_block]);
  const bool old_end = old.element == last_index(matching_.before[old.block]);
  if (new_end && old_end) return false;  // differs() compares the branches
  const bool decides_now = new_end && after_.arcs(new_block).size() > 1;
  const bool decided = old_end && before_.arcs(old.block).size() > 1;
  return decides_now || decided ||
         !explained(old_side_.land(old.block, old.element + 1), new_side_.land(new_block, element + 1));
}

bool BranchMarker::mark_element(Position block, std::uint32_t element) {
  if (matching_.status(block, element) == ElementStatus::Same) matching_.after[block].altered[element] = true;
  return true;
}

void BranchMarker::mark(Position new_block) {
  if (!mark_upstream(new_block)) mark_downstream(new_block);
}

/// The last elements before the end of `block`, through blocks without elements.
bool BranchMarker::mark_upstream(Position block) {
  bool marked = false;
  std::vector<Position> work{block};
  std::set<Position> seen{block};
  while (!work.empty()) {
    const Position at = work.back();
    work.pop_back();
    if (!matching_.after[at].elements.empty()) {
      marked |= mark_element(at, last_index(matching_.after[at]));
      continue;
    }
    for (Position from : after_.predecessors(at))
      if (seen.insert(from).second) work.push_back(from);
  }
  return marked;
}

void BranchMarker::mark_downstream(Position block) {
  std::vector<Position> work{block};
  std::set<Position> seen{block};
  while (!work.empty()) {
    const Position at = work.back();
    work.pop_back();
    if (!matching_.after[at].elements.empty()) {
      mark_element(at, 0);
      continue;
    }
    for (const Arc& arc : after_.arcs(at))
      if (seen.insert(arc.target).second) work.push_back(arc.target);
  }
}

}  // namespace

Branches::Branches(const FlowGraph& before, const FlowGraph& after, const Matching& matching)
    : before_(before),
      after_(after),
      matching_(matching),
      partner_(after.size()),
      same_decision_(after.size()) {
  for (Position at = 0; at < after.size(); ++at) {
    partner_[at] = find_partner(at);
    same_decision_[at] = decides_by_equal_code(at);
  }
}

Position Branches::find_partner(Position new_block) const {
  const NewBlockSide& side = matching_.after[new_block];
  if (!side.elements.empty()) {
    const ElementRef last = side.elements.back();
    if (last && last.element == last_index(matching_.before[last.block])) return last.block;
  }
  if (side.partner == kNowhere) return kNowhere;
  const BlockSide& old_side = matching_.before[side.partner];
  if (old_side.elements.empty() || !old_side.elements.back()) return side.partner;
  // Its last element may end another block now; then that block has this branch.
  const ElementRef moved = old_side.elements.back();
  return moved.element == last_index(matching_.after[moved.block]) ? kNowhere : side.partner;
}

bool Branches::decides_by_equal_code(Position new_block) const {
  const Position old_block = partner_[new_block];
  if (old_block == kNowhere) return false;
  if (before_.arcs(old_block).size() <= 1 && after_.arcs(new_block).size() <= 1) return true;
  if (before_.block(old_block).terminator != after_.block(new_block).terminator) return false;
  const NewBlockSide& side = matching_.after[new_block];
  if (side.elements.empty()) return before_.block(old_block).elements.empty();
  const ElementRef partner = side.elements.back();
  return partner.block == old_block && partner.element == last_index(matching_.before[old_block]) &&
         matching_.status(new_block, last_index(side)) == ElementStatus::Same;
}

const Arc* Branches::old_arc(Position new_block, const Arc& arc) const {
  if (!same_decision_[new_block]) return nullptr;
  const Position old_block = partner_[new_block];
  // What a removed label or handler took goes to these now.
  const bool takes_the_rest = arc.kind == EdgeKind::Default || arc.kind == EdgeKind::Exception;
  if (takes_the_rest && !keeps_labels(before_, old_block, after_, new_block)) return nullptr;
  return before_.find_arc(old_block, arc);
}

void mark_changed_branches(const FlowGraph& before, const FlowGraph& after, Matching& matching) {
  BranchMarker(before, after, matching).run();
}

}  // namespace simrt::diff
