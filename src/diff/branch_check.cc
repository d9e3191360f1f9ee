#include "diff/branch_check.h"

#include <algorithm>
#include <functional>
#include <set>

namespace simrt::diff {
namespace {

std::uint32_t last_index(const BlockSide& side) { return static_cast<std::uint32_t>(side.elements.size() - 1); }

bool same_labels(const FlowGraph& before, Position old_block, const FlowGraph& after, Position new_block) {
  return before.arcs(old_block).size() == after.arcs(new_block).size() &&
         keeps_labels(before, old_block, after, new_block);
}

/// What the first paired blocks behind an edge are, and whether anything decides on the way there.
struct Landing {
  std::set<Position> blocks;  ///< old positions
  bool branches = false;      ///< through code that only this version has, and whose branches therefore show
};

Landing land(const FlowGraph& graph, Position target, const std::function<Position(Position)>& old_block_of) {
  Landing landing;
  std::vector<Position> work{target};
  std::set<Position> seen{target};
  while (!work.empty()) {
    const Position at = work.back();
    work.pop_back();
    if (const Position old_block = old_block_of(at); old_block != kNowhere) {
      landing.blocks.insert(old_block);
      continue;
    }
    landing.branches |= graph.arcs(at).size() > 1 && !graph.block(at).elements.empty();
    for (const Arc& arc : graph.arcs(at))
      if (seen.insert(arc.target).second) work.push_back(arc.target);
  }
  return landing;
}

class BranchMarker {
 public:
  BranchMarker(const FlowGraph& before, const FlowGraph& after, Matching& matching)
      : before_(before), after_(after), matching_(matching), branches_(before, after, matching) {}

  void run() {
    std::vector<Position> changed;
    for (Position at = 0; at < after_.size(); ++at)
      if (branches_.partner(at) != kNowhere && differs(at, branches_.partner(at))) changed.push_back(at);
    for (Position at : changed) mark(at);
  }

 private:
  bool differs(Position new_block, Position old_block) const;
  bool leads_elsewhere(const Arc& old_arc, const Arc& new_arc) const;
  bool removal_shows(Position new_block, Position old_block) const;
  void mark(Position new_block);
  bool mark_element(Position block, std::uint32_t element);
  bool mark_upstream(Position block);
  void mark_downstream(Position block);

  const FlowGraph& before_;
  const FlowGraph& after_;
  Matching& matching_;
  Branches branches_;
};

bool BranchMarker::differs(Position new_block, Position old_block) const {
  if (before_.block(old_block).terminator != after_.block(new_block).terminator ||
      !same_labels(before_, old_block, after_, new_block))
    return !removal_shows(new_block, old_block);
  for (const Arc& arc : before_.arcs(old_block))
    if (leads_elsewhere(arc, *after_.find_arc(new_block, arc))) return true;
  return false;
}

/// A condition that is gone together with its branch is visible as a removed element.
bool BranchMarker::removal_shows(Position new_block, Position old_block) const {
  const BlockSide& old_side = matching_.before[old_block];
  return before_.arcs(old_block).size() > 1 && after_.arcs(new_block).size() <= 1 && !old_side.elements.empty() &&
         !old_side.elements.back();
}

bool BranchMarker::leads_elsewhere(const Arc& old_arc, const Arc& new_arc) const {
  if (matching_.after[new_arc.target].partner == old_arc.target) return false;
  const Landing old_landing = land(before_, old_arc.target, [&](Position at) {
    return matching_.before[at].partner == kNowhere ? kNowhere : at;
  });
  const Landing new_landing = land(after_, new_arc.target, [&](Position at) { return matching_.after[at].partner; });
  if (old_landing.blocks == new_landing.blocks) return false;
  // Inserted or removed code with branches of its own: those elements show what else can be reached.
  const auto& o = old_landing.blocks;
  const auto& n = new_landing.blocks;
  if (new_landing.branches && std::includes(n.begin(), n.end(), o.begin(), o.end())) return false;
  if (old_landing.branches && std::includes(o.begin(), o.end(), n.begin(), n.end())) return false;
  if (old_landing.branches && new_landing.branches)
    return std::none_of(o.begin(), o.end(), [&](Position at) { return n.contains(at); });
  return true;
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
    : before_(before), after_(after), matching_(matching), partner_(after.size()), same_decision_(after.size()) {
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

bool keeps_labels(const FlowGraph& before, Position old_block, const FlowGraph& after, Position new_block) {
  const Arc* last_handler = nullptr;
  for (const Arc& arc : before.arcs(old_block)) {
    const Arc* found = after.find_arc(new_block, arc);
    if (!found) return false;
    if (arc.kind != EdgeKind::Exception) continue;
    if (last_handler && found < last_handler) return false;  // the first handler that fits catches
    last_handler = found;
  }
  return true;
}

void mark_changed_branches(const FlowGraph& before, const FlowGraph& after, Matching& matching) {
  BranchMarker(before, after, matching).run();
}

}  // namespace simrt::diff
