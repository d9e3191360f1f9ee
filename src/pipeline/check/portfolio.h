// The schedules that a check tries blindly.
#pragma once

#include <cstdint>

#include "testing/check_plan.h"

namespace simrt::pipeline {

/// The schedule with this number: what one strategy is bad at another one finds. `base`: watched sites and
/// limits; `points`: expected scheduling points of an execution; `seed` decides all of them.
testing::CheckPlan portfolio_plan(const testing::CheckPlan& base, std::uint64_t seed, std::uint64_t points,
                                  unsigned number);

}  // namespace simrt::pipeline
