// The runtime's only lock. A leaf: whoever holds it calls nothing but the kernel. A handler that runs a hook
// never meets its own thread's lock: a Guard blocks signals, the detector's objects are left alone where
// their thread is `busy`.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "sys/arch.h"

namespace simrt::runtime {

/// Blocks all signals of the calling thread for a scope.
class SignalBlock {
 public:
  SignalBlock() {
    const uint64_t all = ~uint64_t{0};
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
                reinterpret_cast<long>(&saved_), sizeof all);
  }
  ~SignalBlock() {
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&saved_), 0, sizeof saved_);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  uint64_t saved_ = 0;
};

class SpinLock {
 public:
  void lock() {
    if (__atomic_exchange_n(&held_, 1, __ATOMIC_ACQUIRE) != 0) [[unlikely]]
      wait();
  }
  bool try_lock() { return __atomic_exchange_n(&held_, 1, __ATOMIC_ACQUIRE) == 0; }
  void unlock() { __atomic_store_n(&held_, 0, __ATOMIC_RELEASE); }
  /// For a forked child: whoever held it does not exist here.
  void reset() { unlock(); }

 private:
  [[gnu::noinline, gnu::cold]] void wait() {
    for (int spins = 0; !try_lock(); ++spins) {
      if (spins < 64) {
        cpu_relax();
      } else if (spins < 256) {
        raw_syscall(SYS_sched_yield);
      } else {  // the holder may have a lower real-time priority
        const struct timespec pause = {0, 50000};
        raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
      }
    }
  }

  int held_ = 0;
};

/// Signals blocked and the lock held for a scope.
class Guard {
 public:
  explicit Guard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  SignalBlock signals_;  // first in, last out
  SpinLock& lock_;
};

}  // namespace simrt::runtime
