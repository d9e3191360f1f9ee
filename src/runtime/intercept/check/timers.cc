// Timers of the kernel, which run on real time: one that is armed may start a thread (SIGEV_THREAD) that the
// engine takes up when it comes, or send a signal whose handler does what others wait for.
#include "intercept/check/timers.h"

#include <signal.h>
#include <time.h>

#include "intercept/check/call.h"

namespace simrt::rt {
namespace {

constexpr uint32_t kMost = 64;
timer_t armed[kMost];
uint32_t armed_count = 0;
bool too_many = false;

void forget(timer_t timer) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < armed_count; ++i)
    if (armed[i] != timer) armed[kept++] = armed[i];
  armed_count = kept;
}

void remember(timer_t timer) {
  forget(timer);
  if (armed_count < kMost) {
    armed[armed_count++] = timer;
  } else {
    too_many = true;
  }
}

}  // namespace

bool timers_are_armed() {
  for (uint32_t i = 0; i < armed_count; ++i) {
    struct itimerspec left = {};
    if (timer_gettime(armed[i], &left) != 0 || left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0)
      return true;
  }
  return too_many;
}

}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec* value,
                               struct itimerspec* old) noexcept {
  const bool arms = value != nullptr && (value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0);
  if (arms && modelled_thread() != nullptr) {
    engine.expect_foreign();
    remember(timer);
  }
  return SIMRT_REAL(timer_settime)(timer, flags, value, old);
}
SIMRT_EXPORT int timer_delete(timer_t timer) noexcept {
  if (modelled_thread() != nullptr) forget(timer);
  return SIMRT_REAL(timer_delete)(timer);
}
}
