// Dominators and control dependence of a FlowGraph, over a graph with a virtual start (before all live roots)
// and a virtual end (behind the exit, and behind loops that never leave).
#pragma once

#include <vector>

#include "diff/flow_graph.h"

namespace simrt::diff {

/// The block is executed if `branch` takes its arc number `arc` (Ferrante, Ottenstein and Warren, 1987).
/// `branch` is start() for what is executed whenever root number `arc` is entered.
struct Dependence {
  Position branch = 0;
  std::uint32_t arc = 0;
  auto operator<=>(const Dependence&) const = default;
};

class Dominance {
 public:
  explicit Dominance(const FlowGraph& graph);
  Position start() const { return start_; }
  /// Immediate dominator; start() for the live roots, kNowhere in dead code.
  Position dominator(Position block) const { return dominator_[block]; }
  /// Sorted and unique.
  const std::vector<Dependence>& dependences(Position block) const { return dependences_[block]; }

 private:
  Position start_;
  std::vector<Position> dominator_;
  std::vector<std::vector<Dependence>> dependences_;
};

}  // namespace simrt::diff
