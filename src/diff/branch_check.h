// Changes that live in edges only: a terminator, a label or a target that differs while every element is
// equal.
#pragma once

#include "diff/flow_graph.h"
#include "diff/matching.h"

namespace simrt::diff {

/// Which branch of the old version each new block's end stands for.
class Branches {
 public:
  /// Reads the matching as it is now (so before mark_changed_branches); all must outlive this.
  Branches(const FlowGraph& before, const FlowGraph& after, const Matching& matching);

  /// The old block whose end corresponds to that of `new_block`; kNowhere when there is none.
  Position partner(Position new_block) const { return partner_[new_block]; }
  /// The old arc that is taken under the conditions under which `arc` is now (or under more of them); null
  /// when that cannot be said: another condition, another kind of branch, a label that the old branch lacks.
  const Arc* old_arc(Position new_block, const Arc& arc) const;
  /// Equal code decides here in both versions, or there is nothing to decide.
  bool same_decision(Position new_block) const { return same_decision_[new_block]; }

 private:
  Position find_partner(Position new_block) const;
  bool decides_by_equal_code(Position new_block) const;

  const FlowGraph& before_;
  const FlowGraph& after_;
  const Matching& matching_;
  std::vector<Position> partner_;
  std::vector<bool> same_decision_;
};

/// Marks the branching element Altered wherever a branch differs and no element shows it.
void mark_changed_branches(const FlowGraph& before, const FlowGraph& after, Matching& matching);

}  // namespace simrt::diff
