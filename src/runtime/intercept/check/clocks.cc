// Clocks on virtual time: it stands still while the program computes nothing that the engine sees, and jumps
// to the next time limit when nobody can go on.
#include <sys/time.h>
#include <time.h>

#include "intercept/check/call.h"
#include "intercept/check/deadline.h"
#include "intercept/check/inputs.h"
#include "sys/arch.h"

namespace simrt::rt {
namespace {

struct Start {
  uint64_t realtime, monotonic;
};
constinit Start start = {};

uint64_t real_reading(clockid_t clock) {
  struct timespec now = {};
  runtime::raw_syscall(SYS_clock_gettime, clock, reinterpret_cast<long>(&now));
  return nanoseconds(now);
}

uint64_t start_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return start.realtime;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return start.monotonic;
    default:
      return 0;  // processor time: since the start
  }
}

bool is_virtual() { return (engine.plan.header.flags & format::kPlanRealTime) == 0; }

// Whether the calling thread is to see virtual time; else it is noted that it sees another one.
bool shows_virtual(const char* name, uintptr_t pc, bool has_virtual = true) {
  if (has_virtual && modelled_thread() != nullptr && is_virtual()) return true;
  note_input(Input::Clock, name, pc);
  return false;
}

}  // namespace

void start_clocks(uint64_t epoch_ns) {
  constexpr uint64_t kMonotonicStart = 1000ull * kNanosecondsPerSecond;
  if (!is_virtual()) {
    start.realtime = real_reading(CLOCK_REALTIME) - engine.now();
    start.monotonic = real_reading(CLOCK_MONOTONIC) - engine.now();
    return;
  }
  start.realtime = epoch_ns != 0 ? epoch_ns : real_reading(CLOCK_REALTIME);
  start.monotonic = kMonotonicStart;
}

uint64_t read_clock(clockid_t clock, uintptr_t pc) {
  engine.advance(kReadingCost);
  engine.glance(pc, static_cast<uintptr_t>(clock) + 1);
  return clock_reading(clock, engine.now());
}

uint64_t clock_reading(clockid_t clock, uint64_t now) { return start_of(clock) + now; }

uint64_t deadline_at(clockid_t clock, uint64_t reading) {
  if (!is_virtual()) {  // what is left of it, from the engine's now
    const uint64_t now = real_reading(clock);
    return deadline_in(reading > now ? reading - now : 0);
  }
  const uint64_t begin = start_of(clock);
  return reading > begin ? reading - begin : 0;
}

uint64_t deadline_in(uint64_t span) {
  const uint64_t now = engine.now();
  return span < Wait::kForever - 1 - now ? now + span : Wait::kForever - 1;
}

}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  if (!shows_virtual("clock_gettime", SIMRT_PC, clock >= 0 && clock <= CLOCK_TAI))
    return SIMRT_REAL(clock_gettime)(clock, time);
  *time = to_timespec(read_clock(clock, SIMRT_PC));
  return 0;
}

SIMRT_EXPORT int gettimeofday(struct timeval* time, void* zone) noexcept {
  if (!shows_virtual("gettimeofday", SIMRT_PC)) return SIMRT_REAL(gettimeofday)(time, zone);
  const struct timespec now = to_timespec(read_clock(CLOCK_REALTIME, SIMRT_PC));
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

SIMRT_EXPORT time_t time(time_t* out) noexcept {
  if (!shows_virtual("time", SIMRT_PC)) return SIMRT_REAL(time)(out);
  const time_t now = to_timespec(read_clock(CLOCK_REALTIME, SIMRT_PC)).tv_sec;
  if (out != nullptr) *out = now;
  return now;
}

SIMRT_EXPORT int timespec_get(struct timespec* time, int base) noexcept {
  if (!shows_virtual("timespec_get", SIMRT_PC, base == TIME_UTC)) return SIMRT_REAL(timespec_get)(time, base);
  *time = to_timespec(read_clock(CLOCK_REALTIME, SIMRT_PC));
  return base;
}

SIMRT_EXPORT clock_t clock(void) noexcept {
  if (!shows_virtual("clock", SIMRT_PC)) return SIMRT_REAL(clock)();
  return static_cast<clock_t>(read_clock(CLOCK_PROCESS_CPUTIME_ID, SIMRT_PC) / 1000);
}
}
