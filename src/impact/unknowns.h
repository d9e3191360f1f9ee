// What the analysis cannot know about a change, and must say: units that did not parse, bodies without a CFG,
// calls through pointers that lead nowhere, instantiations of a template that changed elsewhere.
#pragma once

#include <vector>

#include "impact/change_context.h"
#include "impact/marks.h"

namespace simrt::impact {

/// Units of `after` that have errors and are not just as they were in `before`.
std::vector<Unknown> unknown_units(const Program& before, const Program& after);

/// Unknowns in changed code; their accesses are marked with ImpactRule::Unknown.
std::vector<Unknown> unknown_code(const ChangeContext& context, Marks& marks);

}  // namespace simrt::impact
