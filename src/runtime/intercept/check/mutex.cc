// pthread mutexes and spin locks.
#include "intercept/check/mutex.h"

#include "emit/run_file.h"
#include "intercept/check/deadline.h"

namespace simrt::rt {

using control::LockType;
using detect::LockMode;
using format::EventKind;

bool stays_real(const pthread_mutex_t* mutex) {
  constexpr int kRobust = 0x10, kShared = 0x80;  // glibc, nptl/pthreadP.h
  if ((mutex->__data.__kind & (kRobust | kShared)) == 0) return false;
  run_file.set_uncontrolled(format::kUncontrolledProcessShared);
  return true;
}

Object& model_of(const pthread_mutex_t* mutex) {
  bool fresh = false;
  Object& object = engine.objects.find_or_make(address_of(mutex), ObjectKind::Lock, fresh);
  if (object.owner == nullptr) {  // the memory may have become another mutex since
    const int kind = mutex->__data.__kind & 3;
    object.type = kind == PTHREAD_MUTEX_RECURSIVE    ? LockType::Recursive
                  : kind == PTHREAD_MUTEX_ERRORCHECK ? LockType::ErrorChecking
                                                     : LockType::Normal;
  }
  return object;
}

namespace {

int got(control::Thread* self, Object& lock, bool tried, uintptr_t pc) {
  lock.owner = self;
  lock.depth = 1;
  hold(self, lock.address, pc, false);
  detect::lock_acquired(lock.address, LockMode::Exclusive, tried, pc);
  return 0;
}

// What becomes of a lock that its owner asks for again; -1: it waits for itself.
int again(Object& lock) {
  if (lock.type == LockType::Recursive) {
    ++lock.depth;
    return 0;
  }
  return lock.type == LockType::ErrorChecking ? EDEADLK : -1;
}

}  // namespace

int model_lock(control::Thread* self, Object& lock, uint64_t deadline, uintptr_t pc) {
  if (lock.owner == self) {
    if (const int result = again(lock); result >= 0) return result;
  }
  detect::lock_requested(lock.address, LockMode::Exclusive, pc);
  Wait wait;
  wait.until = Until::LockFree;
  wait.object = &lock;
  wait.deadline = deadline;
  if (engine.await({EventKind::Lock, mark_of(deadline), 0, lock.address, pc}, wait) != Outcome::Done)
    return ETIMEDOUT;
  return got(self, lock, deadline != Wait::kForever, pc);
}

int model_try_lock(control::Thread* self, Object& lock, uintptr_t pc) {
  if (lock.owner == self)
    return lock.type == LockType::Recursive ? again(lock) : fails_by_itself(self, lock.address, pc);
  engine.step({EventKind::Lock, format::kEventTried, 0, lock.address, pc});
  if (lock.owner != nullptr) {
    control::unchanged(false);
    engine.amend(EventKind::TryFailed);
    return EBUSY;
  }
  return got(self, lock, true, pc);
}

int model_unlock(control::Thread* self, Object& lock, uintptr_t pc) {
  if ((lock.type == LockType::Recursive || lock.type == LockType::ErrorChecking) && lock.owner != self)
    return EPERM;
  if (lock.depth > 1) {
    --lock.depth;
    return 0;
  }
  engine.step({EventKind::Unlock, 0, 0, lock.address, pc});
  detect::lock_released(lock.address, LockMode::Exclusive, pc);
  if (lock.owner != nullptr) let_go(lock.owner, lock.address);
  lock.owner = nullptr;
  lock.depth = 0;
  changed(lock);
  return 0;
}

uint32_t release_for_wait(control::Thread* self, Object& lock, uintptr_t pc) {
  const uint32_t depth = lock.depth;
  detect::lock_released(lock.address, LockMode::Exclusive, pc);
  engine.note(EventKind::Unlock, lock.address, pc);
  let_go(self, lock.address);
  lock.owner = nullptr;
  lock.depth = 0;
  changed(lock);
  return depth;
}

void take_after_wait(control::Thread* self, Object& lock, uint32_t depth, uintptr_t pc) {
  engine.note(EventKind::Lock, lock.address, pc);
  got(self, lock, false, pc);
  lock.depth = depth == 0 ? 1 : depth;
}

namespace {

template <class Real>
int watched_lock(const void* lock, bool tried, uintptr_t pc, Real real) {
  if (!detecting()) return real();
  if (!tried) detect::lock_requested(address_of(lock), LockMode::Exclusive, pc);
  const int result = real();
  if (result == 0 || result == EOWNERDEAD)
    detect::lock_acquired(address_of(lock), LockMode::Exclusive, tried, pc);
  return result;
}

template <class Real>
int timed_lock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* limit, uintptr_t pc,
               Real real) {
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_lock(mutex, true, pc, real);
  if (stays_real(mutex)) return outside(self, pc, [&] { return watched_lock(mutex, true, pc, real); });
  Object& lock = model_of(mutex);
  // Of a lock that is free the limit is not looked at.
  if (!is_legal(*limit)) return lock.owner == nullptr ? model_lock(self, lock, Wait::kForever, pc) : EINVAL;
  return model_lock(self, lock, deadline_at(clock, nanoseconds(*limit)), pc);
}

Object& model_of(pthread_spinlock_t* lock) {
  bool fresh = false;
  Object& object = engine.objects.find_or_make(reinterpret_cast<uintptr_t>(lock), ObjectKind::Lock, fresh);
  object.type = LockType::Spin;
  return object;
}

uintptr_t spin_address(pthread_spinlock_t* lock) { return reinterpret_cast<uintptr_t>(lock); }

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;  // the interposers below are named by libc

extern "C" {

SIMRT_EXPORT int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(mutex));
  return SIMRT_REAL(pthread_mutex_init)(mutex, attributes);
}

SIMRT_EXPORT int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  if (detecting()) detect::lock_destroyed(address_of(mutex));
  if (modelled_thread() != nullptr) {
    const Object* lock = engine.objects.find(address_of(mutex));
    if (lock != nullptr && lock->kind == ObjectKind::Lock && lock->owner != nullptr) return EBUSY;
    engine.objects.forget(address_of(mutex));
  }
  return SIMRT_REAL(pthread_mutex_destroy)(mutex);
}

SIMRT_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const uintptr_t pc = SIMRT_PC;
  const auto real = [&] { return SIMRT_REAL(pthread_mutex_lock)(mutex); };
  control::Thread* self = modelled_thread();
  if (self == nullptr) return watched_lock(mutex, false, pc, real);
  if (stays_real(mutex)) return outside(self, pc, [&] { return watched_lock(mutex, false, pc, real); });
  return model_lock(self, model_of(mutex), Wait::kForever, pc);
}

SIMRT_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  const uintptr_t pc = SIMRT_PC;
  control::Thread* self = modelled_thread();
  if (self == nullptr || stays_real(mutex))
    return watched_lock(mutex, true, pc, [&] { return SIMRT_REAL(pthread_mutex_trylock)(mutex); });
  return model_try_lock(self, model_of(mutex), pc);
}

SIMRT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const struct timespec* limit) noexcept {
  return timed_lock(mutex, CLOCK_REALTIME, limit, SIMRT_PC,
                    [&] { return SIMRT_REAL(pthread_mutex_timedlock)(mutex, limit); });
}

SIMRT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                         const struct timespec* limit) noexcept {
  return timed_lock(mutex, clock, limit, SIMRT_PC,
                    [&] { return SIMRT_REAL(pthread_mutex_clocklock)(mutex, clock, limit); });
}

SIMRT_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const uintptr_t pc = SIMRT_PC;
  control::Thread* self = modelled_thread();
  if (self != nullptr && !stays_real(mutex)) return model_unlock(self, model_of(mutex), pc);
  if (detecting()) detect::lock_released(address_of(mutex), LockMode::Exclusive, pc);
  return SIMRT_REAL(pthread_mutex_unlock)(mutex);
}

SIMRT_EXPORT int pthread_spin_init(pthread_spinlock_t* lock, int shared) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(spin_address(lock));
  return SIMRT_REAL(pthread_spin_init)(lock, shared);
}

SIMRT_EXPORT int pthread_spin_destroy(pthread_spinlock_t* lock) noexcept {
  if (detecting()) detect::lock_destroyed(spin_address(lock));
  if (modelled_thread() != nullptr) engine.objects.forget(spin_address(lock));
  return SIMRT_REAL(pthread_spin_destroy)(lock);
}

SIMRT_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (control::Thread* self = modelled_thread(); self != nullptr)
    return model_lock(self, model_of(lock), Wait::kForever, pc);
  return watched_lock(const_cast<const int*>(lock), false, pc,
                      [&] { return SIMRT_REAL(pthread_spin_lock)(lock); });
}

SIMRT_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (control::Thread* self = modelled_thread(); self != nullptr)
    return model_try_lock(self, model_of(lock), pc);
  return watched_lock(const_cast<const int*>(lock), true, pc,
                      [&] { return SIMRT_REAL(pthread_spin_trylock)(lock); });
}

SIMRT_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  const uintptr_t pc = SIMRT_PC;
  if (control::Thread* self = modelled_thread(); self != nullptr)
    return model_unlock(self, model_of(lock), pc);
  if (detecting()) detect::lock_released(spin_address(lock), LockMode::Exclusive, pc);
  return SIMRT_REAL(pthread_spin_unlock)(lock);
}
}
