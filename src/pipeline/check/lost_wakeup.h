// Notifications that may come before the wait they are meant for.
#pragma once

#include <vector>

#include "pipeline/check/describe.h"

namespace simrt::pipeline {

/// For every wait of a condition variable and every notification of it that another thread made without the
/// wait's mutex: the notification first, the wait, which has looked at its predicate before, last. That most
/// of these orders are impossible (the predicate is changed under the mutex) or harmless (somebody notifies
/// again) only an execution tells: a hint is weak. `execution` was recorded with synchronisation events and
/// their calls. Each pair of places once, at most kMostLostWakeups, in the order of the waits.
std::vector<Candidate> lost_wakeups_of(const testing::Execution& execution, Symbols& symbols);

inline constexpr std::size_t kMostLostWakeups = 64;

}  // namespace simrt::pipeline
