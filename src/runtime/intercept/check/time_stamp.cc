#include "intercept/check/time_stamp.h"

#include <elf.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "emit/run_modules.h"
#include "intercept/check/call.h"
#include "intercept/check/deadline.h"
#include "intercept/check/inputs.h"
#include "intercept/check/segv.h"
#include "sys/image.h"
#include "sys/time_stamp.h"

namespace simrt::rt {
namespace {

constinit bool somebody_reads = false;
constinit bool are_virtual = false;
constinit uint32_t modules_seen = 0;
constinit runtime::Image vdso;  // the kernel's code for clocks

runtime::ProcessorReads reads_of(const LoadedModule& module) {
  runtime::ProcessorReads found;
  runtime::for_each_code(
      reinterpret_cast<const void*>(module.begin),
      [&](const uint8_t* begin, const uint8_t* end) { runtime::find_processor_reads(begin, end, found); });
  return found;
}

#if defined(__x86_64__)

// A handler of the program on a thread that waits for its turn: not the engine's, but time passes.
uint64_t reading_beside() {
  static uint64_t readings = 0;
  return clock_reading(CLOCK_MONOTONIC, engine.now()) +
         kReadingCost * __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
}

uint64_t virtual_reading(uintptr_t pc) {
  if (detecting() && modelled_thread() != nullptr) return read_clock(CLOCK_MONOTONIC, pc);
  return reading_beside();
}

uint64_t real_reading() {
  runtime::allow_time_stamps();
  const uint64_t reading = runtime::real_time_stamp();
  runtime::forbid_time_stamps();
  return reading;
}

bool is_general_protection(const siginfo_t* info, const greg_t* registers) {
  constexpr greg_t kGeneralProtection = 13;
  return info->si_code == SI_KERNEL && registers[REG_TRAPNO] == kGeneralProtection;
}

// Whose instruction was fetched can be read there; an address beyond the program's could not be.
bool on_fault(const siginfo_t* info, ucontext_t* context) {
  auto* registers = context->uc_mcontext.gregs;
  const auto pc = static_cast<uintptr_t>(registers[REG_RIP]);
  if (!is_general_protection(info, registers) || pc >> 47 != 0) return false;
  const auto read = runtime::time_stamp_read_at(reinterpret_cast<const uint8_t*>(pc));
  if (read.bytes == 0) return false;
  if (!controlled() || control::current_thread == nullptr) {  // nothing of ours: it reads again
    runtime::allow_time_stamps();
    if (controlled()) note_input(Input::Clock, "rdtsc", pc + 1);
    return true;
  }
  const bool is_kernels = pc >= vdso.begin && pc < vdso.end;
  const uint64_t reading = is_kernels ? real_reading() : virtual_reading(pc + read.bytes);
  registers[REG_RAX] = static_cast<uint32_t>(reading);
  registers[REG_RDX] = static_cast<uint32_t>(reading >> 32);
  if (read.with_processor) registers[REG_RCX] = 0;
  registers[REG_RIP] += read.bytes;
  return true;
}

#else

bool on_fault(const siginfo_t*, ucontext_t*) { return false; }

#endif

}  // namespace

void look_for_time_stamps() {
  const LoadedModule* ours = module_of(reinterpret_cast<uintptr_t>(&look_for_time_stamps));
  for (; modules_seen < module_count(); ++modules_seen) {
    const LoadedModule& module = module_at(modules_seen);
    const bool counts = &module != ours && (module.executable || !is_system_library(module.path.text));
    if (!counts) continue;
    const runtime::ProcessorReads reads = reads_of(module);
    somebody_reads = somebody_reads || reads.time_stamp != nullptr;
    // Whether it is run nobody sees.
    if (reads.random_number != nullptr)
      note_input(Input::RandomInstruction, "rdrand or rdseed",
                 reinterpret_cast<uintptr_t>(reads.random_number) + 1);
  }
}

void start_time_stamps() {
  if (are_virtual || !somebody_reads) return;
  if ((engine.plan.header.flags & format::kPlanRealTime) != 0) return note_input(Input::Clock, "rdtsc", 0);
  runtime::read_image(reinterpret_cast<const void*>(getauxval(AT_SYSINFO_EHDR)), vdso);
  share_segv(&on_fault);
  unblock_segv();
  if (!runtime::forbid_time_stamps()) {
    note_input(Input::Clock, "rdtsc", 0);
    return stop_sharing_segv();
  }
  are_virtual = true;
  engine.at_next_turn(&forbid_time_stamps_here);
}

void forbid_time_stamps_here() {
  if (!are_virtual) return;
  unblock_segv();
  runtime::forbid_time_stamps();
}

void give_time_stamps_back() {
  if (!are_virtual) return;
  are_virtual = false;
  runtime::allow_time_stamps();
  stop_sharing_segv();
}

RealTimeStamps::RealTimeStamps() : were_virtual_(are_virtual && runtime::time_stamps_are_forbidden()) {
  if (were_virtual_) runtime::allow_time_stamps();
}

RealTimeStamps::~RealTimeStamps() {
  if (were_virtual_) runtime::forbid_time_stamps();
}

}  // namespace simrt::rt
