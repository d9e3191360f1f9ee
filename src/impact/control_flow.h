// Questions about one function's CFG: what runs before or after a block, and which blocks a branch decides
// about.
#pragma once

#include <cstdint>
#include <vector>

#include "impact/program_index.h"

namespace simrt::impact {

enum class Direction : std::uint8_t { Forward, Backward };

class ControlFlow {
 public:
  ControlFlow(const ProgramIndex& index, std::uint32_t function);

  const std::vector<std::uint32_t>& successors(std::uint32_t block) const { return successors_[block]; }
  const std::vector<std::uint32_t>& predecessors(std::uint32_t block) const { return predecessors_[block]; }

  /// Blocks on some path that starts behind (or ends before) `block`; the block itself only when it is in a
  /// cycle.
  std::vector<bool> reachable(std::uint32_t block, Direction direction) const;

  /// Elements of the function that may run after (before) `element`, ascending; itself only inside a loop.
  std::vector<std::uint32_t> elements_from(std::uint32_t element, Direction direction) const;

  /// Blocks that run or not depending on the branch at the end of `block` (Ferrante, Ottenstein, Warren
  /// 1987).
  std::vector<std::uint32_t> controlled_by(std::uint32_t block) const;

  /// True when the block ends in a branch; its condition is then its last element.
  bool branches(std::uint32_t block) const { return successors_[block].size() > 1; }
  /// True when `element` is the condition of a branch.
  bool is_condition(std::uint32_t element) const;

 private:
  void compute_post_dominators() const;

  const ProgramIndex& index_;
  std::uint32_t function_;
  std::vector<std::vector<std::uint32_t>> successors_, predecessors_;
  mutable std::vector<std::uint32_t> post_dominator_;  ///< immediate; the virtual exit is blocks().size()
};

}  // namespace simrt::impact
