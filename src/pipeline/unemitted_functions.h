// Functions that no binary of a test holds although its code calls them: the compiler computed them away
// (constexpr constructors of local objects), or they are not instrumented. Their blocks count as covered by
// whoever covered a call of theirs; without this a changed default initialiser would be seen by nobody.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "history/block_numbers.h"
#include "model/coverage.h"
#include "model/program.h"

namespace simrt::pipeline {

class UnemittedFunctions {
 public:
  UnemittedFunctions(const Program& program, const history::BlockNumbering& numbering);

  /// The calls whose callee is not in `emitted`: (block with the call, numbers of the callee's blocks).
  using Calls = std::vector<std::pair<BlockNumber, history::BlockRange>>;
  Calls calls_beyond(const std::unordered_set<FunctionId>& emitted) const;

  /// Adds the blocks of every callee whose call is covered, transitively.
  static void spread(const Calls& calls, BlockSet& covered);

 private:
  Calls direct_calls_;  ///< ascending block number
};

}  // namespace simrt::pipeline
