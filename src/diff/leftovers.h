// The last step of the matching: which of the elements and blocks that found no equal are altered versions of
// one another.
#pragma once

#include "diff/local_bijection.h"
#include "diff/matching.h"

namespace simrt::diff {

/// Pairs the blocks that took over each other's code, then stopped pairs of which neither found another
/// partner, and in every pair of blocks the unequal elements that stand between the same equal ones (as
/// altered).
void pair_leftovers(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals,
                    Matching& matching);

}  // namespace simrt::diff
