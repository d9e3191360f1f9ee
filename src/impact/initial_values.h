// Variables that the change initialises to another value: what depends on them depends on the change, in code
// that did not change at all. Knows nothing of who reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "impact/change_context.h"

namespace simrt::impact {

/// Variable -> element of p' that gives it its other value. Globals and static members whose initialiser
/// changed, members whose value in a constructor did (default member initialisers stand there too).
std::map<VariableId, std::uint32_t> changed_initial_values(const ChangeContext& context);

/// Objects among the `wanted` that other functions set up otherwise than before: a local latch, sem_init with
/// another count.
std::map<VariableId, std::uint32_t> changed_set_up(const ChangeContext& context,
                                                   const std::function<bool(VariableId)>& wanted);

}  // namespace simrt::impact
