// Whose calls into libc count as accesses of the program: those of instrumented modules, and those of the C++
// library, whose out-of-line functions (std::string) work on the program's data. Other libraries synchronise
// in ways that nobody sees.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "control/point.h"
#include "detect/detector.h"
#include "detect/race.h"
#include "detect/thread.h"

namespace simrt::rt {

/// Whether code at `pc` counts. Looks modules up when it has not seen this one (dlopen).
bool counts(uintptr_t pc);

/// For the time of a call that the C++ library makes (a string copies its characters): the place where the
/// program called the library is part of the call stack, which the hooks know from function to function only.
class LibraryCall {
 public:
  /// `pc`: return address of the call. Nothing for other code.
  explicit LibraryCall(uintptr_t pc);
  ~LibraryCall() {
    if (detected_) detect::leave();
    if (controlled_) control::leave_function();
  }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  bool detected_ = false, controlled_ = false;
};

/// The call from `pc` was made by a library without hooks (std::thread::join, std::condition_variable::wait):
/// where that was called, by the program's unwinder. 0 for calls from code with hooks, and while no detector
/// is on: then nobody keeps stacks.
uintptr_t library_caller(uintptr_t pc);

/// Whether the accesses of a call from `pc` are to be told.
inline bool tells(uintptr_t pc) {
  if (mode == RunMode::Off) [[likely]]
    return false;
  if (!controlled() && detect::watched == nullptr) return false;
  if (detect::options.watch != nullptr && !detect::options.watch->has(pc)) return false;
  return counts(pc);
}
/// A call from `pc`, of which tells() is true, reads or is about to write memory.
inline void tell(const volatile void* memory, size_t size, bool write, uintptr_t pc) {
  if (size == 0) return;
  const LibraryCall call(pc);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  if (controlled()) control::point(write ? EventKind::Write : EventKind::Read, address, size, pc);
  detect::range(address, size, write, pc);
}
/// Both in one.
inline void accessed(const volatile void* memory, size_t size, bool write, uintptr_t pc) {
  if (size != 0 && tells(pc)) tell(memory, size, write, pc);
}
inline void reads(const volatile void* memory, size_t size, uintptr_t pc) {
  accessed(memory, size, false, pc);
}
inline void writes(volatile void* memory, size_t size, uintptr_t pc) { accessed(memory, size, true, pc); }

}  // namespace simrt::rt
