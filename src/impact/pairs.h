// Impacted shared-variable pairs (ISVP) from shared-variable accesses: which accesses may meet. Where they
// are too many, accesses are put together without changing which tests cover a pair.
#pragma once

#include <vector>

#include "impact/impact.h"
#include "impact/shared_accesses.h"
#include "impact/site_sets.h"

namespace simrt::impact {

/// Fills Impact::accesses, site_sets and pairs. `candidates` in the order of access_before.
void pair_accesses(std::vector<Candidate> candidates, SiteSets sites, const ImpactOptions& options,
                   Impact& impact);

}  // namespace simrt::impact
