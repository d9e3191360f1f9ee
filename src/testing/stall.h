// The watchdog of a controlled execution: notices that it passes no points, looks why, and asks the runtime
// to pass the token on (kRunWatchdogSignal).
#pragma once

#include <chrono>
#include <cstdint>

#include "simrt/format/run.h"

namespace simrt::testing {

class StallWatch {
 public:
  explicit StallWatch(const format::RunHeader& header) : header_(header) {}

  /// Call it every few milliseconds while the execution runs.
  void look();

 private:
  const format::RunHeader& header_;
  std::uint64_t points_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point nudged_ = since_;
};

}  // namespace simrt::testing
