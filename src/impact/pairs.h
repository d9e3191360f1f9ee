// Impacted shared-variable pairs (ISVP): all pairs of accesses that may touch the same memory, at least one
// impacted, at least one a write; a write pairs with itself. Knows only accesses.
#pragma once

#include <cstddef>
#include <vector>

#include "impact/shared_accesses.h"

namespace simrt::impact {

/// Fills `impact.accesses` and `impact.pairs`. Of an alias class with more than `max_pairs` pairs only one
/// access for each (block, mode, impacted) is kept: whether a test covers one of the pairs depends on nothing
/// else. While all classes together are still above `max_targets`, the largest one pairs its impacted
/// accesses with one that stands for the others (SharedAccess::stands_for): more tests than need be, never
/// fewer. Accesses that are neither impacted nor partner of one are dropped unless `keep_all`.
void pair_accesses(std::vector<Candidate> candidates, std::size_t max_pairs, bool keep_all, Impact& impact,
                   std::size_t max_targets = 1'000'000);

}  // namespace simrt::impact
