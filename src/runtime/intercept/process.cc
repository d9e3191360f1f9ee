// The process: start, fork and exit.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cover/recorder.h"
#include "intercept/lifecycle.h"
#include "intercept/real.h"

using simrt::runtime::recorder;

extern "C" {
int __cxa_atexit(void (*function)(void*), void* argument, void* dso);
[[gnu::weak]] pid_t __real__Fork(void) noexcept;  // glibc 2.34
SIMRT_EXPORT pid_t SIMRT_INTERCEPTOR(_Fork)(void) noexcept;
}

namespace {

void prepare() { recorder.fork_prepare(); }
void parent() { recorder.fork_parent(); }
void child() {
  recorder.fork_child();
  simrt::runtime::watch_thread_end();
}

[[gnu::constructor(101)]] void begin_process() {
  recorder.start();
  if (!recorder.recording()) return;
  simrt::runtime::watch_thread_end();
  pthread_atfork(&prepare, &parent, &child);
}

[[gnu::destructor(101)]] void end_process() { recorder.finish(); }

}  // namespace

namespace simrt::runtime {

void watch_exit() {
  static bool watched = false;
  if (__atomic_exchange_n(&watched, true, __ATOMIC_ACQ_REL)) return;
  __cxa_atexit([](void*) { recorder.exit_begun(); }, nullptr, nullptr);
}

}  // namespace simrt::runtime

extern "C" {

// fork() without the handlers of pthread_atfork.
pid_t SIMRT_INTERCEPTOR(_Fork)(void) noexcept {
  const auto real = SIMRT_REAL(_Fork);
  if (real == nullptr) return fork();
  if (!recorder.recording()) return real();
  prepare();
  const pid_t result = real();
  if (result == 0) {
    child();
  } else {
    parent();
  }
  return result;
}
}
