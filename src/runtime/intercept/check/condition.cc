// Condition variables. libc has two versions of these functions; the ones of GLIBC_2.3.2 are those of today.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "emit/run_file.h"
#include "intercept/check/counted.h"
#include "intercept/check/deadline.h"
#include "intercept/check/mutex.h"

namespace simrt::rt {
namespace {

using format::EventKind;

template <class Function, class Tag>
Function versioned(const char* name) {
  static void* resolved = nullptr;
  void* function = __atomic_load_n(&resolved, __ATOMIC_ACQUIRE);
  if (function == nullptr) {
    function = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (function == nullptr) function = dlsym(RTLD_NEXT, name);
    __atomic_store_n(&resolved, function, __ATOMIC_RELEASE);
  }
  return reinterpret_cast<Function>(function);
}
#define SIMRT_REAL_CONDITION(name) (versioned<decltype(&name), struct name##_tag>(#name))

bool stays_real(const pthread_cond_t* condition) {
  constexpr unsigned kShared = 1;  // glibc: __wrefs, bit 0
  if ((condition->__data.__wrefs & kShared) == 0) return false;
  run_file.set_uncontrolled(format::kUncontrolledProcessShared);
  return true;
}

clockid_t clock_of(const pthread_cond_t* condition) {
  constexpr unsigned kMonotonic = 2;  // glibc: __wrefs, bit 1
  return (condition->__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

Object& model_of_condition(const pthread_cond_t* condition) {
  bool fresh = false;
  return engine.objects.find_or_make(address_of(condition), ObjectKind::Condition, fresh);
}

void leave_queue(Object& condition, const control::Thread* self) {
  size_t kept = 0;
  for (size_t i = 0; i < condition.waiters.size(); ++i)
    if (condition.waiters[i] != self) condition.waiters[kept++] = condition.waiters[i];
  while (condition.waiters.size() > kept) condition.waiters.pop();
}

int model_wait(control::Thread* self, Object& condition, Object& lock, uint64_t deadline, uintptr_t pc) {
  const uintptr_t caller = library_caller(pc);
  const Operation sleeps = {EventKind::Wait, 0, 0, condition.address, pc, caller};
  engine.step(sleeps);
  condition.waiters.push(self);
  self->notified = engine.spurious(sleeps);
  if (self->notified) leave_queue(condition, self);
  const uint32_t depth = release_for_wait(self, lock, pc);
  Wait wait;
  wait.until = Until::Notified;
  wait.object = &condition;
  wait.second = &lock;
  wait.deadline = deadline;
  wait.cancellable = true;
  const Outcome outcome = engine.await({EventKind::Woken, 0, 0, condition.address, pc, caller}, wait);
  leave_queue(condition, self);
  take_after_wait(self, lock, depth, pc);
  detect::acquired(condition.address);
  if (outcome == Outcome::Cancelled) pthread_testcancel();
  return outcome == Outcome::TimedOut ? ETIMEDOUT : 0;
}

int model_notify(Object& condition, bool all, uintptr_t pc) {
  const Operation notifies = {
      all ? EventKind::NotifyAll : EventKind::Notify, 0, 0, condition.address, pc, library_caller(pc)};
  engine.step(notifies);
  detect::access(condition.address, 1, false, pc);
  detect::released(condition.address);
  if (condition.waiters.size() == 0) return 0;
  if (all) {
    for (control::Thread* waiter : condition.waiters) waiter->notified = true;
    condition.waiters.clear();
  } else {
    control::Thread* waiter = condition.waiters[engine.choose_waiter(condition, notifies)];
    waiter->notified = true;
    leave_queue(condition, waiter);
  }
  engine.disturb();
  return 0;
}

// A notification touches the condition variable, its destruction ends it: who does both without an order
// notifies something that may be gone.
void note_free_notify(const pthread_cond_t* condition, uintptr_t pc) {
  if (!detecting()) return;
  detect::access(address_of(condition), 1, false, pc);
  detect::released(address_of(condition));
}

// Free-running: what the detector is to know about the mutex while libc waits.
template <class Real>
int watched_wait(const pthread_cond_t* condition, const pthread_mutex_t* mutex, uintptr_t pc, Real real) {
  if (!detecting()) return real();
  detect::lock_released(address_of(mutex), detect::LockMode::Exclusive, pc);
  const int result = real();
  detect::lock_acquired(address_of(mutex), detect::LockMode::Exclusive, false, pc);
  detect::acquired(address_of(condition));
  return result;
}

template <class Real>
int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* limit,
         uintptr_t pc, Real real) {
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_wait(condition, mutex, pc, real);
  if (stays_real(condition) || simrt::rt::stays_real(mutex))
    return outside(self, pc, [&] { return watched_wait(condition, mutex, pc, real); });
  if (limit != nullptr && !is_legal(*limit)) return EINVAL;
  const uint64_t deadline = limit == nullptr ? Wait::kForever : deadline_at(clock, nanoseconds(*limit));
  return model_wait(self, model_of_condition(condition), model_of(mutex), deadline, pc);
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(condition));
  return SIMRT_REAL_CONDITION(pthread_cond_init)(condition, attributes);
}

SIMRT_EXPORT int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  if (detecting()) detect::access(address_of(condition), 1, true, SIMRT_PC);
  if (modelled_thread() != nullptr && !stays_real(condition)) {
    engine.objects.forget(address_of(condition));
    return 0;
  }
  return SIMRT_REAL_CONDITION(pthread_cond_destroy)(condition);
}

SIMRT_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait(condition, mutex, CLOCK_REALTIME, nullptr, SIMRT_PC,
              [&] { return SIMRT_REAL_CONDITION(pthread_cond_wait)(condition, mutex); });
}

SIMRT_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                        const struct timespec* limit) {
  return wait(condition, mutex, clock_of(condition), limit, SIMRT_PC,
              [&] { return SIMRT_REAL_CONDITION(pthread_cond_timedwait)(condition, mutex, limit); });
}

SIMRT_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                        const struct timespec* limit) {
  return wait(condition, mutex, clock, limit, SIMRT_PC,
              [&] { return SIMRT_REAL(pthread_cond_clockwait)(condition, mutex, clock, limit); });
}

SIMRT_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (modelled_thread() != nullptr && !stays_real(condition))
    return model_notify(model_of_condition(condition), false, pc);
  note_free_notify(condition, pc);
  return SIMRT_REAL_CONDITION(pthread_cond_signal)(condition);
}

SIMRT_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (modelled_thread() != nullptr && !stays_real(condition))
    return model_notify(model_of_condition(condition), true, pc);
  note_free_notify(condition, pc);
  return SIMRT_REAL_CONDITION(pthread_cond_broadcast)(condition);
}
}
