// Time limits of the program in the engine's virtual time.
#pragma once

#include <stdint.h>
#include <time.h>

namespace simrt::rt {

inline constexpr long kNanosecondsPerSecond = 1'000'000'000;

inline bool is_legal(const struct timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < kNanosecondsPerSecond;
}
inline uint64_t nanoseconds(const struct timespec& time) {
  return time.tv_sec < 0 ? 0
                         : static_cast<uint64_t>(time.tv_sec) * static_cast<uint64_t>(kNanosecondsPerSecond) +
                               static_cast<uint64_t>(time.tv_nsec);
}
inline struct timespec to_timespec(uint64_t nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kNanosecondsPerSecond),
          static_cast<long>(nanoseconds % kNanosecondsPerSecond)};
}

/// Every reading of a clock takes so much virtual time: loops that only read one get somewhere.
inline constexpr uint64_t kReadingCost = 5000;
/// A reading by the program, on the thread with the token.
uint64_t read_clock(clockid_t clock, uintptr_t pc);
/// What the clock shows at virtual time `now`, in nanoseconds.
uint64_t clock_reading(clockid_t clock, uint64_t now);
/// Virtual time at which the clock shows `reading`; 0 when that is over.
uint64_t deadline_at(clockid_t clock, uint64_t reading);
/// Virtual time in `span` nanoseconds.
uint64_t deadline_in(uint64_t span);

/// Sets the clocks' start, once an execution.
void start_clocks(uint64_t epoch_ns);

}  // namespace simrt::rt
