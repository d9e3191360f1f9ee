// pthread read-write locks. Readers are let in while nobody writes, as glibc's default does; of kind
// PREFER_WRITER_NONRECURSIVE not while a writer waits for earlier readers.
#include <pthread.h>
#include <time.h>

#include "emit/run_file.h"
#include "intercept/check/call.h"
#include "intercept/check/deadline.h"

namespace simrt::rt {
namespace {

using detect::LockMode;
using format::EventKind;

bool stays_real(const pthread_rwlock_t* lock) {
  if (lock->__data.__shared == 0) return false;
  run_file.set_uncontrolled(format::kUncontrolledProcessShared);
  return true;
}

Object& model_of(const pthread_rwlock_t* lock) {
  bool fresh = false;
  return engine.objects.find_or_make(address_of(lock), ObjectKind::ReadWriteLock, fresh);
}

// `mark`: RunEvent::order.
Operation operation(bool shared, const Object& lock, uint8_t mark, uintptr_t pc) {
  return {shared ? EventKind::LockShared : EventKind::Lock, mark, 0, lock.address, pc};
}

LockMode lock_mode(bool shared) { return shared ? LockMode::Shared : LockMode::Exclusive; }

int got(control::Thread* self, Object& lock, bool shared, bool tried, uintptr_t pc) {
  if (shared) {
    ++lock.readers;
  } else {
    lock.owner = self;
  }
  hold(self, lock.address, pc, shared);
  detect::lock_acquired(lock.address, lock_mode(shared), tried, pc);
  return 0;
}

bool is_free(const Object& lock, bool shared) {
  return lock.owner == nullptr && (lock.readers == 0 || (shared && lock.queued == 0));
}

bool prefers_writers(uintptr_t lock) {
  return reinterpret_cast<const pthread_rwlock_t*>(lock)->__data.__flags ==
         PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

int model_lock(control::Thread* self, Object& lock, bool shared, uint64_t deadline, uintptr_t pc) {
  if (lock.owner == self) return EDEADLK;
  detect::lock_requested(lock.address, lock_mode(shared), pc);
  Wait wait;
  wait.until = shared ? Until::NoWriter : Until::LockFree;
  wait.object = &lock;
  wait.deadline = deadline;
  const bool queues = !shared && prefers_writers(lock.address);
  if (queues) {  // from here on it counts as waiting: a step of its own, which may come at any time
    engine.step(operation(shared, lock, format::kEventTried, pc));
    if (is_free(lock, shared)) return got(self, lock, shared, deadline != Wait::kForever, pc);
    control::unchanged(false);
    engine.amend(EventKind::TryFailed);
    ++lock.queued;
  }
  const Outcome outcome = engine.await(operation(shared, lock, mark_of(deadline), pc), wait);
  if (queues) {
    --lock.queued;
    if (outcome != Outcome::Done) changed(lock);
  }
  if (outcome != Outcome::Done) return ETIMEDOUT;
  return got(self, lock, shared, deadline != Wait::kForever, pc);
}

int model_try_lock(control::Thread* self, Object& lock, bool shared, uintptr_t pc) {
  if (lock.owner == self || (!shared && holds(self, lock.address, true)))
    return fails_by_itself(self, lock.address, pc);
  engine.step(operation(shared, lock, format::kEventTried, pc));
  if (is_free(lock, shared)) return got(self, lock, shared, true, pc);
  control::unchanged(false);
  engine.amend(EventKind::TryFailed);
  return EBUSY;
}

int model_unlock(control::Thread* self, Object& lock, uintptr_t pc) {
  const bool shared = lock.owner == nullptr;
  engine.step({shared ? EventKind::UnlockShared : EventKind::Unlock, 0, 0, lock.address, pc});
  detect::lock_released(lock.address, lock_mode(shared), pc);
  if (!shared) {
    lock.owner = nullptr;
  } else if (lock.readers > 0) {
    --lock.readers;
  }
  let_go(self, lock.address);
  changed(lock);
  return 0;
}

template <class Real>
int watched_lock(const pthread_rwlock_t* lock, bool shared, bool tried, uintptr_t pc, Real real) {
  if (!detecting()) return real();
  if (!tried) detect::lock_requested(address_of(lock), lock_mode(shared), pc);
  const int result = real();
  if (result == 0) detect::lock_acquired(address_of(lock), lock_mode(shared), tried, pc);
  return result;
}

template <class Real>
int lock(pthread_rwlock_t* lock, bool shared, uintptr_t pc, Real real) {
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_lock(lock, shared, false, pc, real);
  if (stays_real(lock)) return outside(self, pc, [&] { return watched_lock(lock, shared, false, pc, real); });
  return model_lock(self, model_of(lock), shared, Wait::kForever, pc);
}

template <class Real>
int timed_lock(pthread_rwlock_t* lock, bool shared, clockid_t clock, const struct timespec* limit,
               uintptr_t pc, Real real) {
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_lock(lock, shared, true, pc, real);
  if (stays_real(lock)) return outside(self, pc, [&] { return watched_lock(lock, shared, true, pc, real); });
  if (!is_legal(*limit)) return EINVAL;
  return model_lock(self, model_of(lock), shared, deadline_at(clock, nanoseconds(*limit)), pc);
}

template <class Real>
int try_lock(pthread_rwlock_t* lock, bool shared, uintptr_t pc, Real real) {
  control::Thread* self = modelled_thread();
  if (self == nullptr || stays_real(lock)) return watched_lock(lock, shared, true, pc, real);
  return model_try_lock(self, model_of(lock), shared, pc);
}

// Free-running: which side a thread holds is not in the lock, so each thread remembers its own write locks.
struct WriteLocks {
  static constexpr int kMost = 32;
  uintptr_t locks[kMost];
  int count;
};
constinit thread_local WriteLocks written [[gnu::tls_model("initial-exec")]] = {};

void remember_write(uintptr_t lock) {
  if (written.count < WriteLocks::kMost) written.locks[written.count++] = lock;
}
bool forget_write(uintptr_t lock) {
  for (int i = written.count; i-- > 0;) {
    if (written.locks[i] != lock) continue;
    written.locks[i] = written.locks[--written.count];
    return true;
  }
  return false;
}

int noted(int result, const pthread_rwlock_t* lock) {
  if (result == 0 && detecting() && !controlled()) remember_write(address_of(lock));
  return result;
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int pthread_rwlock_init(pthread_rwlock_t* rwlock,
                                     const pthread_rwlockattr_t* attributes) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(rwlock));
  return SIMRT_REAL(pthread_rwlock_init)(rwlock, attributes);
}

SIMRT_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* rwlock) noexcept {
  if (detecting()) detect::lock_destroyed(address_of(rwlock));
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(rwlock));
  return SIMRT_REAL(pthread_rwlock_destroy)(rwlock);
}

SIMRT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) noexcept {
  return lock(rwlock, true, SIMRT_PC, [&] { return SIMRT_REAL(pthread_rwlock_rdlock)(rwlock); });
}
SIMRT_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* rwlock) noexcept {
  return try_lock(rwlock, true, SIMRT_PC, [&] { return SIMRT_REAL(pthread_rwlock_tryrdlock)(rwlock); });
}
SIMRT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* rwlock, const struct timespec* limit) noexcept {
  return timed_lock(rwlock, true, CLOCK_REALTIME, limit, SIMRT_PC,
                    [&] { return SIMRT_REAL(pthread_rwlock_timedrdlock)(rwlock, limit); });
}
SIMRT_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* rwlock, clockid_t clock,
                                            const struct timespec* limit) noexcept {
  return timed_lock(rwlock, true, clock, limit, SIMRT_PC,
                    [&] { return SIMRT_REAL(pthread_rwlock_clockrdlock)(rwlock, clock, limit); });
}

SIMRT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* rwlock) noexcept {
  return noted(lock(rwlock, false, SIMRT_PC, [&] { return SIMRT_REAL(pthread_rwlock_wrlock)(rwlock); }),
               rwlock);
}
SIMRT_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* rwlock) noexcept {
  return noted(
      try_lock(rwlock, false, SIMRT_PC, [&] { return SIMRT_REAL(pthread_rwlock_trywrlock)(rwlock); }),
      rwlock);
}
SIMRT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* rwlock, const struct timespec* limit) noexcept {
  return noted(timed_lock(rwlock, false, CLOCK_REALTIME, limit, SIMRT_PC,
                          [&] { return SIMRT_REAL(pthread_rwlock_timedwrlock)(rwlock, limit); }),
               rwlock);
}
SIMRT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* rwlock, clockid_t clock,
                                            const struct timespec* limit) noexcept {
  return noted(timed_lock(rwlock, false, clock, limit, SIMRT_PC,
                          [&] { return SIMRT_REAL(pthread_rwlock_clockwrlock)(rwlock, clock, limit); }),
               rwlock);
}

SIMRT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* rwlock) noexcept {
  const uintptr_t pc = SIMRT_PC;
  control::Thread* self = modelled_thread();
  if (self != nullptr && !stays_real(rwlock)) return model_unlock(self, model_of(rwlock), pc);
  if (detecting()) {
    detect::lock_released(address_of(rwlock), lock_mode(!forget_write(address_of(rwlock))), pc);
  }
  return SIMRT_REAL(pthread_rwlock_unlock)(rwlock);
}
}
