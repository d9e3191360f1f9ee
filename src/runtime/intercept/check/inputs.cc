#include "intercept/check/inputs.h"

#include <errno.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "emit/run_file.h"
#include "intercept/check/counted.h"
#include "intercept/check/descriptor_reach.h"
#include "intercept/check/own_descriptors.h"
#include "sys/arch.h"

namespace simrt::rt {
namespace {

using runtime::raw_syscall;

constinit uint32_t noted = 0;
constinit format::RunInput notes[format::kInputs] = {};  // of this process; the header's outlive it

static_assert(format::kInputs <= 32);

bool note_once(uint32_t bit) {
  return (__atomic_load_n(&noted, __ATOMIC_RELAXED) & bit) == 0 &&
         (__atomic_fetch_or(&noted, bit, __ATOMIC_ACQ_REL) & bit) == 0;
}

bool is_noted(Input kind) {
  return (__atomic_load_n(&noted, __ATOMIC_RELAXED) >> static_cast<uint32_t>(kind) & 1) != 0;
}

void publish(Input kind) {
  const format::RunInput& note = notes[static_cast<uint32_t>(kind)];
  format::RunInput& input = run_file.header().inputs[static_cast<uint32_t>(kind)];
  const uint32_t when = note.when;
  __atomic_store_n(&input.when, 0u, __ATOMIC_RELEASE);
  input.pc = note.pc;
  input.caller = note.caller;
  input.shared = note.shared;
  for (size_t i = 0; i < sizeof input.name; ++i) input.name[i] = note.name[i];
  __atomic_store_n(&input.when, when, __ATOMIC_RELEASE);
}

// Null: what it gives is the same for everybody.
const char* kind_of_device(dev_t device) {
  constexpr unsigned kMemory = 1;  // /dev/null, zero, full, random, ...
  return major(device) == kMemory ? nullptr : "terminal or device";
}

}  // namespace

bool is_wanted(Input kind) { return !is_noted(kind) && run_file.is_open() && own_calls == 0; }

void note_input(Input kind, const char* name, uintptr_t pc) {
  if (!is_wanted(kind)) return;
  if (!note_once(1u << static_cast<uint32_t>(kind))) return;
  const int error = errno;
  format::RunInput& input = notes[static_cast<uint32_t>(kind)];
  input.pc = pc;
  input.caller = controlled() ? library_caller(pc) : 0;
  size_t length = 0;
  for (; length + 1 < sizeof input.name && name[length] != '\0'; ++length) input.name[length] = name[length];
  input.name[length] = '\0';
  input.shared = 0;
  const uint64_t events = run_file.header().events;
  input.when = events < UINT32_MAX - 1 ? static_cast<uint32_t>(events) + 1 : UINT32_MAX;
  publish(kind);
  errno = error;
}

void note_read(int fd, uintptr_t pc) {
  constexpr uint32_t kAlways = 16, kThen = 64;  // who asks at each read pays more for it than for the read
  static uint32_t reads = 0;
  if (is_noted(Input::OtherProcess)) return;
  if (const uint32_t read = reads++; read >= kAlways && read % kThen != 0) return;
  const int error = errno;
  struct stat status;
  const char* name = nullptr;
  if (raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0) {
    switch (status.st_mode & S_IFMT) {
      case S_IFREG:
      case S_IFDIR:
      case S_IFBLK:
        break;
      case S_IFCHR:
        name = kind_of_device(status.st_rdev);
        break;
      default:
        if (reach_of_descriptor(fd) != control::Reach::Outside) break;
        name = S_ISFIFO(status.st_mode) ? "pipe" : S_ISSOCK(status.st_mode) ? "socket" : "event";
    }
  }
  if (name != nullptr) note_input(Input::OtherProcess, name, pc);
  errno = error;
}

void note_random_addresses() {
  const long flags = raw_syscall(SYS_personality, 0xffffffff);
  if (flags >= 0 && (flags & ADDR_NO_RANDOMIZE) == 0) note_input(Input::Addresses, "address-space layout", 0);
}

void keep_inputs_before_fork() {
  constexpr uint32_t kInCode = 1u << static_cast<uint32_t>(Input::RandomInstruction);
  for (uint32_t i = 0; i < format::kInputs; ++i) {
    if ((noted >> i & 1) != 0) {
      notes[i].shared = (kInCode >> i & 1) == 0 ? 1 : 0;  // what is in the code may be run at any time
      publish(Input{i});
    } else {
      run_file.header().inputs[i].when = 0;  // an earlier execution's
    }
  }
  noted &= kInCode;
}

}  // namespace simrt::rt
