// A failing schedule made small: fewest context switches that still fail in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/execution.h"

namespace simrt::schedule {

/// Runs the choices (behind them, and where one cannot be followed, the default schedule). Returns who really
/// went on at every decision if the execution failed in the same way as the original, else nothing.
using StillFails = std::function<std::optional<Choices>(const Choices&)>;

struct MinimisedSchedule {
  Choices choices;           ///< of an execution that failed
  std::size_t switches = 0;  ///< context switches of it
  std::uint64_t executions = 0;
  bool minimal = false;  ///< no single step of the search improves it; false when the budget ended first
};

/// Delta debugging (Zeller and Hildebrandt, TSE 2002) over the stretches between context switches: a stretch
/// is put off until its thread goes on again, or done right behind what its thread did before; both save
/// switches. First the end is cut off and left to the default schedule. Deterministic.
MinimisedSchedule minimise(const Choices& failing, const StillFails& still_fails,
                           std::uint64_t budget = 1000);

}  // namespace simrt::schedule
