// POSIX threads and semaphores, C11 threads.
#include <llvm/ADT/StringMap.h>

#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

namespace {

struct LockFunction {
  LockAction action;
  LockMode mode;
};

const llvm::StringMap<LockFunction>& lock_functions() {
  constexpr LockMode kExclusive = LockMode::Exclusive;
  static const llvm::StringMap<LockFunction> table{
      {"pthread_mutex_lock", {LockAction::Acquire, kExclusive}},
      {"pthread_mutex_unlock", {LockAction::Release, kExclusive}},
      {"pthread_mutex_trylock", {LockAction::TryAcquire, kExclusive}},
      {"pthread_mutex_timedlock", {LockAction::TryAcquire, kExclusive}},
      {"pthread_mutex_clocklock", {LockAction::TryAcquire, kExclusive}},
      {"pthread_rwlock_rdlock", {LockAction::Acquire, LockMode::Shared}},
      {"pthread_rwlock_wrlock", {LockAction::Acquire, kExclusive}},
      {"pthread_rwlock_tryrdlock", {LockAction::TryAcquire, LockMode::Shared}},
      {"pthread_rwlock_trywrlock", {LockAction::TryAcquire, kExclusive}},
      {"pthread_rwlock_timedrdlock", {LockAction::TryAcquire, LockMode::Shared}},
      {"pthread_rwlock_timedwrlock", {LockAction::TryAcquire, kExclusive}},
      {"pthread_rwlock_unlock", {LockAction::Release, kExclusive}},
      {"pthread_spin_lock", {LockAction::Acquire, kExclusive}},
      {"pthread_spin_trylock", {LockAction::TryAcquire, kExclusive}},
      {"pthread_spin_unlock", {LockAction::Release, kExclusive}},
      {"mtx_lock", {LockAction::Acquire, kExclusive}},
      {"mtx_unlock", {LockAction::Release, kExclusive}},
      {"mtx_trylock", {LockAction::TryAcquire, kExclusive}},
      {"mtx_timedlock", {LockAction::TryAcquire, kExclusive}},
  };
  return table;
}

const llvm::StringMap<OrderKind>& order_functions() {
  static const llvm::StringMap<OrderKind> table{
      {"pthread_cond_signal", OrderKind::NotifyOne},
      {"pthread_cond_broadcast", OrderKind::NotifyAll},
      {"cnd_signal", OrderKind::NotifyOne},
      {"cnd_broadcast", OrderKind::NotifyAll},
      {"pthread_barrier_wait", OrderKind::BarrierWait},
      {"sem_wait", OrderKind::SemaphoreAcquire},
      {"sem_trywait", OrderKind::SemaphoreAcquire},
      {"sem_timedwait", OrderKind::SemaphoreAcquire},
      {"sem_clockwait", OrderKind::SemaphoreAcquire},
      {"sem_post", OrderKind::SemaphoreRelease},
  };
  return table;
}

/// What it is given is a value that the object holds: a count, or the kind of a lock.
bool sets_up(llvm::StringRef name) {
  return name == "sem_init" || name == "pthread_barrier_init" || name == "pthread_mutex_init" ||
         name == "pthread_rwlock_init" || name == "pthread_spin_init" || name == "mtx_init";
}

/// Set-up and tear-down of synchronisation objects: no ordering between threads.
bool is_management(llvm::StringRef name) {
  return name.ends_with("_init") || name.ends_with("_destroy") || name.starts_with("pthread_attr_") ||
         name.starts_with("pthread_mutexattr_") || name.starts_with("pthread_condattr_") ||
         name == "pthread_self" || name == "pthread_equal" || name == "thrd_current" ||
         name == "thrd_yield" || name == "sched_yield";
}

}  // namespace

bool Evaluator::c_function(const CallSite& site, Operands&) {
  if (!site.callee->getIdentifier() || site.callee->isInStdNamespace()) return false;
  const llvm::StringRef name = site.callee->getName();
  const bool ours = name.starts_with("pthread_") || name.starts_with("mtx_") || name.starts_with("cnd_") ||
                    name.starts_with("thrd_") || name.starts_with("sem_") || name == "call_once" ||
                    name == "sched_yield";
  if (!ours) return false;
  const clang::SourceLocation at = site.expression->getExprLoc();
  if (const auto lock = lock_functions().find(name); lock != lock_functions().end()) {
    lock_op(lock->second.action, {site.target(0).place}, at, lock->second.mode);
  } else if (const auto order = order_functions().find(name); order != order_functions().end()) {
    order_op(order->second, site.target(0), at);
  } else if (name == "pthread_cond_wait" || name == "pthread_cond_timedwait" ||
             name == "pthread_cond_clockwait" || name == "cnd_wait" || name == "cnd_timedwait") {
    const Place mutex = site.target(1).place;
    lock_op(LockAction::Release, {mutex}, at);
    order_op(OrderKind::ConditionWait, site.target(0), at);
    lock_op(LockAction::Acquire, {mutex}, at);
  } else if (name == "pthread_create") {
    spawn(site, 2, site.target(0));
  } else if (name == "thrd_create") {
    spawn(site, 1, site.target(0));
  } else if (name == "pthread_join" || name == "thrd_join" || name == "pthread_timedjoin_np" ||
             name == "pthread_tryjoin_np") {
    order_op(OrderKind::ThreadJoin, site.argument(0), at);
  } else if (name == "pthread_detach" || name == "thrd_detach") {
    order_op(OrderKind::ThreadDetach, site.argument(0), at);
  } else if (name == "pthread_once" || name == "call_once") {
    order_op(OrderKind::OnceCall, site.target(0), at);
    call_now(site, 1);
  } else if (sets_up(name)) {
    computed(site.target(0), at);
  } else {
    return is_management(name);
  }
  return true;
}

}  // namespace simrt::analysis
