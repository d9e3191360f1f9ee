// Sleeping in the kernel until another thread (or process) changes a word.
#pragma once

#include <linux/futex.h>
#include <stdint.h>
#include <time.h>

#include "sys/arch.h"

namespace simrt::runtime {

/// While *word == expected, at most `nanoseconds` (0: without limit). May return early: check the word.
inline void futex_wait(const void* word, int32_t expected, uint64_t nanoseconds = 0, bool shared = false) {
  const struct timespec limit = {static_cast<time_t>(nanoseconds / 1000000000u),
                                 static_cast<long>(nanoseconds % 1000000000u)};
  raw_syscall(SYS_futex, reinterpret_cast<long>(word), shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
              nanoseconds == 0 ? 0 : reinterpret_cast<long>(&limit));
}

inline void futex_wake(const void* word, int32_t count, bool shared = false) {
  raw_syscall(SYS_futex, reinterpret_cast<long>(word), shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, count);
}

}  // namespace simrt::runtime
