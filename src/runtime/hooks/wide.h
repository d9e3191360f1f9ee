// Atomics of 16 bytes. The compilers would call libatomic, which the runtime does not depend on.
#pragma once

#include <stdint.h>

#include "sys/lock.h"

namespace simrt::rt {

__extension__ using Wide = unsigned __int128;

/// Replaces `expected` in `target` by `desired`; otherwise loads the value there into `expected`.
inline bool compare_exchange_wide(volatile Wide* target, Wide& expected, Wide desired) {
#if defined(__x86_64__)
  auto low = static_cast<uint64_t>(expected), high = static_cast<uint64_t>(expected >> 64);
  bool same;
  __asm__ volatile("lock cmpxchg16b %1"
                   : "=@ccz"(same), "+m"(*target), "+a"(low), "+d"(high)
                   : "b"(static_cast<uint64_t>(desired)), "c"(static_cast<uint64_t>(desired >> 64))
                   : "memory");
  expected = Wide{high} << 64 | low;
  return same;
#else  // consistent among instrumented accesses, the only ones that reach us
  static runtime::SpinLock lock;
  lock.lock();
  const Wide found = *target;
  const bool same = found == expected;
  if (same) *target = desired;
  expected = found;
  lock.unlock();
  return same;
#endif
}

}  // namespace simrt::rt
