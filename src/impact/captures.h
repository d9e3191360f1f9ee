// Lambdas whose code is as before, but which now capture another variable of the functions around them by
// reference: `[&a]` to `[&b]`. Their statements name the variable by the outer function's id.
#pragma once

#include <cstdint>
#include <vector>

#include "impact/change_context.h"

namespace simrt::impact {

/// Events of p' in unchanged lambdas that mean another variable than their twins in p; ascending.
std::vector<std::uint32_t> other_captures(const ChangeContext& context);

}  // namespace simrt::impact
