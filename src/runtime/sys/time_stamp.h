// The processor's time stamp counter: who reads it, and the kernel's switch that makes reading it a fault.
// The switch belongs to a thread; threads, forks and programs that it starts inherit it.
#pragma once

#include <stdint.h>
#include <sys/prctl.h>

#include "sys/arch.h"

namespace simrt::runtime {

/// A read of the counter by one instruction.
struct TimeStampRead {
  uint32_t bytes = 0;           // 0 = the instruction is none
  bool with_processor = false;  // rdtscp: the processor's number, too
};

/// What stands at `code`. Looks no further than the instruction itself, if there is one.
inline TimeStampRead time_stamp_read_at(const uint8_t* code) {
  if (code[0] != 0x0f) return {};
  if (code[1] == 0x31) return {2, false};
  if (code[1] == 0x01 && code[2] == 0xf9) return {3, true};
  return {};
}

/// Whether compiled code at [begin, end) reads the counter.
bool reads_time_stamps(const uint8_t* begin, const uint8_t* end);

#if defined(__x86_64__)
inline bool forbid_time_stamps() { return raw_syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV) == 0; }
inline void allow_time_stamps() { raw_syscall(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE); }
inline bool time_stamps_are_forbidden() {
  int state = PR_TSC_ENABLE;
  return raw_syscall(SYS_prctl, PR_GET_TSC, reinterpret_cast<long>(&state)) == 0 && state == PR_TSC_SIGSEGV;
}
inline uint64_t real_time_stamp() { return __builtin_ia32_rdtsc(); }
#else
inline bool forbid_time_stamps() { return false; }
inline void allow_time_stamps() {}
inline bool time_stamps_are_forbidden() { return false; }
inline uint64_t real_time_stamp() { return 0; }
#endif

}  // namespace simrt::runtime
