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

/// The same for a free run: notices that every thread of the process waits without a time limit for another
/// one (a futex), so that nothing will happen any more.
class FreeRunWatch {
 public:
  explicit FreeRunWatch(const format::RunHeader& header) : header_(header) {}

  /// Call it every few milliseconds. True once all threads have stood still for a while.
  bool is_stuck();

 private:
  const format::RunHeader& header_;
  std::chrono::steady_clock::time_point next_look_ = std::chrono::steady_clock::now();
  unsigned stuck_looks_ = 0;
};

}  // namespace simrt::testing
