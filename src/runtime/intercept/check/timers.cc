// Timers of the kernel, which run on real time: one that is armed may start a thread (SIGEV_THREAD) that the
// engine takes up when it comes.
#include <signal.h>
#include <time.h>

#include "intercept/check/call.h"

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec* value,
                               struct itimerspec* old) noexcept {
  const bool arms = value != nullptr && (value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0);
  if (arms && modelled_thread() != nullptr) engine.expect_foreign();
  return SIMRT_REAL(timer_settime)(timer, flags, value, old);
}
}
