// POSIX semaphores.
#include <limits.h>
#include <semaphore.h>
#include <time.h>

#include "emit/run_file.h"
#include "intercept/check/call.h"
#include "intercept/check/deadline.h"

namespace simrt::rt {
namespace {

using format::EventKind;

// glibc's struct new_sem: value (and waiters) in 64 bits, private flag behind them.
bool stays_real(const sem_t* semaphore) {
  const auto* words = reinterpret_cast<const int*>(semaphore);
  if (words[2] == 0) return false;
  run_file.set_uncontrolled(format::kUncontrolledProcessShared);
  return true;
}

Object& model_of(sem_t* semaphore) {
  bool fresh = false;
  Object& object = engine.objects.find_or_make(address_of(semaphore), ObjectKind::Semaphore, fresh);
  if (fresh) {
    int value = 0;
    SIMRT_REAL(sem_getvalue)(semaphore, &value);
    object.count = value;
  }
  return object;
}

int failed(int error) {
  errno = error;
  return -1;
}

int passed(Object& semaphore) {
  --semaphore.count;
  semaphore.owner = control::current_thread;
  detect::acquired(semaphore.address);
  return 0;
}

int model_wait(Object& semaphore, uint64_t deadline, uintptr_t pc) {
  Wait wait;
  wait.until = Until::CountPositive;
  wait.object = &semaphore;
  wait.deadline = deadline;
  wait.cancellable = true;
  switch (engine.await({EventKind::SemaphoreWait, mark_of(deadline), 0, semaphore.address, pc}, wait)) {
    case Outcome::Done:
      return passed(semaphore);
    case Outcome::TimedOut:
      return failed(ETIMEDOUT);
    case Outcome::Cancelled:
      break;
  }
  pthread_testcancel();
  return failed(EINTR);
}

template <class Real>
int watched_wait(const sem_t* semaphore, Real real) {
  const int result = real();
  if (result == 0 && detecting()) detect::acquired(address_of(semaphore));
  return result;
}

template <class Real>
int timed_wait(sem_t* semaphore, clockid_t clock, const struct timespec* limit, uintptr_t pc, Real real) {
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_wait(semaphore, real);
  if (stays_real(semaphore)) return outside(self, pc, [&] { return watched_wait(semaphore, real); });
  Object& object = model_of(semaphore);
  if (object.count <= 0 && !is_legal(*limit)) return failed(EINVAL);
  return model_wait(object, deadline_at(clock, nanoseconds(*limit)), pc);
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(semaphore));
  return SIMRT_REAL(sem_init)(semaphore, shared, value);
}

SIMRT_EXPORT int sem_destroy(sem_t* semaphore) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(semaphore));
  return SIMRT_REAL(sem_destroy)(semaphore);
}

SIMRT_EXPORT int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  if (modelled_thread() == nullptr || stays_real(semaphore))
    return SIMRT_REAL(sem_getvalue)(semaphore, value);
  Object* object = engine.objects.find(address_of(semaphore));
  if (object == nullptr) return SIMRT_REAL(sem_getvalue)(semaphore, value);
  engine.step({EventKind::AtomicLoad, 4, sizeof(int), address_of(semaphore), SIMRT_PC});
  *value = static_cast<int>(object->count);
  return 0;
}

SIMRT_EXPORT int sem_wait(sem_t* semaphore) {
  const uintptr_t pc = SIMRT_PC;
  const auto real = [&] { return SIMRT_REAL(sem_wait)(semaphore); };
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_wait(semaphore, real);
  if (stays_real(semaphore)) return outside(self, pc, [&] { return watched_wait(semaphore, real); });
  return model_wait(model_of(semaphore), Wait::kForever, pc);
}

SIMRT_EXPORT int sem_trywait(sem_t* semaphore) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (modelled_thread() == nullptr || stays_real(semaphore))
    return watched_wait(semaphore, [&] { return SIMRT_REAL(sem_trywait)(semaphore); });
  Object& object = model_of(semaphore);
  engine.step({EventKind::SemaphoreWait, simrt::format::kEventTried, 0, object.address, pc});
  if (object.count > 0) return passed(object);
  control::unchanged(false);
  engine.amend(EventKind::TryFailed);
  return failed(EAGAIN);
}

SIMRT_EXPORT int sem_timedwait(sem_t* semaphore, const struct timespec* limit) {
  return timed_wait(semaphore, CLOCK_REALTIME, limit, SIMRT_PC,
                    [&] { return SIMRT_REAL(sem_timedwait)(semaphore, limit); });
}

SIMRT_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* limit) {
  return timed_wait(semaphore, clock, limit, SIMRT_PC,
                    [&] { return SIMRT_REAL(sem_clockwait)(semaphore, clock, limit); });
}

SIMRT_EXPORT int sem_post(sem_t* semaphore) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (modelled_thread() == nullptr || stays_real(semaphore)) {
    if (detecting()) detect::released(address_of(semaphore));
    return SIMRT_REAL(sem_post)(semaphore);
  }
  Object& object = model_of(semaphore);
  engine.step({EventKind::SemaphorePost, 0, 0, object.address, pc});
  if (object.count >= INT_MAX) return failed(EOVERFLOW);
  detect::released(object.address);
  ++object.count;
  object.owner = nullptr;
  changed(object);
  return 0;
}
}
