// pthread_once and the guards of function-local statics. The real functions run the initialiser: an exception
// that leaves it must pass through their frames. Here callers only wait until nobody is inside, so that the
// real one never blocks.
#include <pthread.h>

#include "intercept/check/call.h"

namespace simrt::rt {
namespace {

using format::EventKind;

constexpr int kDone = 2;  // glibc: PTHREAD_ONCE_DONE

struct Initialiser {
  void (*routine)();
  uintptr_t control;
  uintptr_t pc;
};
constinit thread_local Initialiser current [[gnu::tls_model("initial-exec")]] = {};

// Runs between the real function's entry and its publication of "done".
void initialise() {
  const Initialiser mine = current;
  if (control::Thread* self = modelled_thread(); self != nullptr) {
    engine.step({EventKind::OnceBegin, 0, 0, mine.control, mine.pc});
    let_go(self, mine.control);  // of a try that an exception ended
    hold(self, mine.control, mine.pc, false);
  }
  mine.routine();
  detect::released(mine.control);
  if (control::Thread* self = modelled_thread(); self != nullptr) {
    engine.step({EventKind::OnceEnd, 0, 0, mine.control, mine.pc});
    let_go(self, mine.control);
    engine.disturb();
  }
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int pthread_once(pthread_once_t* control, void (*routine)()) {
  const uintptr_t pc = SIMRT_PC;
  if (!detecting()) return SIMRT_REAL(pthread_once)(control, routine);
  if (modelled_thread() != nullptr) {
    Wait wait;
    wait.until = Until::OnceSettled;
    wait.word = control;
    engine.await({EventKind::OnceEnd, 0, 0, address_of(control), pc}, wait);
  }
  int result = 0;
  if (__atomic_load_n(control, __ATOMIC_ACQUIRE) != kDone) {
    const Initialiser outer = current;
    current = {routine, address_of(control), pc};
    result = SIMRT_REAL(pthread_once)(control, &initialise);
    current = outer;
    if (modelled_thread() != nullptr) engine.disturb();
  }
  detect::acquired(address_of(control));
  return result;
}

// The C++ library's own waiting goes through syscall(SYS_futex), which is modelled (futex.cc).
int __cxa_guard_acquire(void* guard);
void __cxa_guard_release(void* guard);
SIMRT_EXPORT int __cxa_guard_acquire(void* guard) {
  if (!detecting()) return SIMRT_REAL(__cxa_guard_acquire)(guard);
  const uintptr_t pc = SIMRT_PC;
  if (modelled_thread() != nullptr) engine.step({EventKind::OnceBegin, 0, 0, address_of(guard), pc});
  const int result = SIMRT_REAL(__cxa_guard_acquire)(guard);
  if (result == 0 && modelled_thread() != nullptr) engine.amend(EventKind::OnceEnd);
  detect::acquired(address_of(guard));
  return result;
}
SIMRT_EXPORT void __cxa_guard_release(void* guard) {
  if (!detecting()) return SIMRT_REAL(__cxa_guard_release)(guard);
  const uintptr_t pc = SIMRT_PC;
  if (modelled_thread() != nullptr) engine.step({EventKind::OnceEnd, 0, 0, address_of(guard), pc});
  detect::released(address_of(guard));
  SIMRT_REAL(__cxa_guard_release)(guard);
}
}
