// The processor's time stamp counter and random numbers: who reads them, and the kernel's switch that makes
// reading it a fault. The switch belongs to a thread; threads, forks and programs that it starts inherit it.
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

/// Whether `code` is a read of a random number. Looks at three bytes, of which the first is 0x0f.
inline bool random_number_read_at(const uint8_t* code) {
  constexpr uint8_t kRegister = 0xc0, kOperation = 0x30;  // rdrand is 6, rdseed 7 of the group
  return code[1] == 0xc7 && (code[2] & kRegister) == kRegister && (code[2] & kOperation) == kOperation;
}

/// What stands at `code`. Looks no further than the instruction itself, if there is one.
inline TimeStampRead time_stamp_read_at(const uint8_t* code) {
  if (code[0] != 0x0f) return {};
  if (code[1] == 0x31) return {2, false};
  if (code[1] == 0x01 && code[2] == 0xf9) return {3, true};
  return {};
}

/// Instructions of compiled code that read what the processor alone knows; null: none was found.
struct ProcessorReads {
  const uint8_t* time_stamp = nullptr;
  const uint8_t* random_number = nullptr;  // rdrand, rdseed
};

/// Looks for both at [begin, end), as far as they were not found before.
void find_processor_reads(const uint8_t* begin, const uint8_t* end, ProcessorReads& found);

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
