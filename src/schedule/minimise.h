// A failing schedule made small: fewest context switches that still fail in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

/// What one thread does in one piece. A schedule is a list of them, neighbours by different threads:
/// executions of millions of decisions have few context switches.
struct Stretch {
  ThreadIndex thread = 0;
  std::uint64_t steps = 0;  ///< decisions
  bool operator==(const Stretch&) const = default;
};
using Stretches = std::vector<Stretch>;
Stretches stretches_of(const Choices& choices);
Choices choices_of(const Stretches& stretches);
/// Adds one decision.
void append(Stretches& stretches, ThreadIndex thread, std::uint64_t steps = 1);
using simrt::context_switches;
inline std::size_t context_switches(const Stretches& stretches) {
  return stretches.empty() ? 0 : stretches.size() - 1;
}

/// Runs the schedule (behind it, and where a step cannot be taken, the default one). Returns who really went
/// on if the execution failed in the same way as the original, else nothing.
using StillFails = std::function<std::optional<Stretches>(const Stretches&)>;

struct MinimisedSchedule {
  Stretches schedule;        ///< of an execution that failed
  std::size_t switches = 0;  ///< context switches of it
  std::uint64_t executions = 0;
  bool minimal = false;  ///< no single step of the search improves it; false when the budget ended first
};

/// Delta debugging (Zeller and Hildebrandt, TSE 2002) over the stretches between context switches: a stretch
/// is put off until its thread goes on again, or done right behind what its thread did before; both save
/// switches. First the end is cut off and left to the default schedule. Deterministic.
MinimisedSchedule minimise(const Stretches& failing, const StillFails& still_fails,
                           std::uint64_t budget = 1000);

}  // namespace simrt::schedule
