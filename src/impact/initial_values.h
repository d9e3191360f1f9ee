// Variables that the change initialises to another value: what depends on them depends on the change, in code
// that did not change at all. Knows nothing of who reads them.
#pragma once

#include <cstdint>
#include <map>

#include "impact/change_context.h"

namespace simrt::impact {

/// Variable -> element of p' that gives it its other value. Globals and static members whose initialiser
/// changed, members whose value in a constructor did (default member initialisers stand there too), and
/// semaphores and barriers that C code initialises with another count.
std::map<VariableId, std::uint32_t> changed_initial_values(const ChangeContext& context);

}  // namespace simrt::impact
