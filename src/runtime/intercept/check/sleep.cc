// Sleeps and yields.
#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "intercept/check/call.h"
#include "intercept/check/deadline.h"

namespace simrt::rt {
namespace {

using format::EventKind;

// False when the thread was cancelled meanwhile and the program has forbidden it.
void sleep_until(uint64_t deadline, uintptr_t pc) {
  Wait wait;
  wait.until = Until::Never;
  wait.deadline = deadline;
  wait.cancellable = true;
  if (engine.await({EventKind::Yield, 0, 0, 0, pc}, wait) == Outcome::Cancelled) pthread_testcancel();
}

// A short sleep orders nothing: the others may take longer than that for whatever they do.
void sleep_for(uint64_t span, uintptr_t pc) {
  if (span > engine.plan.header.short_sleep_ns) return sleep_until(deadline_in(span), pc);
  engine.advance(span);
  engine.yield(pc);
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int nanosleep(const struct timespec* span, struct timespec* left) {
  if (modelled_thread() == nullptr || !is_legal(*span)) return SIMRT_REAL(nanosleep)(span, left);
  sleep_for(nanoseconds(*span), SIMRT_PC);
  return 0;
}

SIMRT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                                 struct timespec* left) {
  if (modelled_thread() == nullptr || !is_legal(*time))
    return SIMRT_REAL(clock_nanosleep)(clock, flags, time, left);
  if ((flags & TIMER_ABSTIME) != 0) {
    sleep_until(deadline_at(clock, nanoseconds(*time)), SIMRT_PC);
  } else {
    sleep_for(nanoseconds(*time), SIMRT_PC);
  }
  return 0;
}

SIMRT_EXPORT int usleep(useconds_t span) {
  if (modelled_thread() == nullptr) return SIMRT_REAL(usleep)(span);
  sleep_for(uint64_t{span} * 1000, SIMRT_PC);
  return 0;
}

SIMRT_EXPORT unsigned sleep(unsigned span) {
  if (modelled_thread() == nullptr) return SIMRT_REAL(sleep)(span);
  sleep_for(uint64_t{span} * static_cast<uint64_t>(kNanosecondsPerSecond), SIMRT_PC);
  return 0;
}

SIMRT_EXPORT int thrd_sleep(const struct timespec* span, struct timespec* left) {
  if (modelled_thread() == nullptr || !is_legal(*span)) return SIMRT_REAL(thrd_sleep)(span, left);
  sleep_for(nanoseconds(*span), SIMRT_PC);
  return 0;
}

SIMRT_EXPORT int sched_yield() noexcept {
  if (modelled_thread() == nullptr) return SIMRT_REAL(sched_yield)();
  engine.yield(SIMRT_PC);
  return 0;
}

SIMRT_EXPORT void thrd_yield() {
  if (modelled_thread() == nullptr) return SIMRT_REAL(thrd_yield)();
  engine.yield(SIMRT_PC);
}
}
