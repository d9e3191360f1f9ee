// The old block whose coverage vouches for a new one (SV field `b`).
#pragma once

#include "diff/flow_graph.h"
#include "diff/matching.h"

namespace simrt::diff {

/// For every new block an old one that a test has entered on p if it enters the new one on p'.
///
/// That is the block's home (Matching::home) as long as reaching it still depends on no other branch outcomes
/// than before: each must be one that the old block depended on, decided by unchanged code. A guard that was
/// added only takes tests away and is looked through; a guard that was removed, or a condition that was
/// altered, may bring tests that never entered the home. New code maps to the old target of the edges that
/// lead into it, where they agree. Everything else maps to its nearest dominator that is safe, in the end to
/// the entry.
std::vector<Position> old_blocks_reached(const FlowGraph& before, const FlowGraph& after,
                                         const Matching& matching);

}  // namespace simrt::diff
