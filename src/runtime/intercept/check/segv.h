// SIGSEGV for two: an instruction that we forbid (time_stamp.h) arrives as that signal, and what the program
// does with it must work as ever. Once shared, the kernel has our handler, and the program's action is kept
// here. A fault while its signal is blocked ends the process: so the program never really blocks this one. In
// the kernel's masks another signal stands for it, which is saved, restored and inherited as its own bit
// would be.
#pragma once

#include <signal.h>
#include <ucontext.h>

namespace simrt::rt {

/// Whether the fault is ours; then all is done and the thread goes on as `context` says.
using FaultFilter = bool (*)(const siginfo_t* info, ucontext_t* context);

/// From now on, in this process: `filter` first, then the program. Every thread must unblock_segv().
void share_segv(FaultFilter filter);
bool segv_is_shared();
/// All is the program's again; on the calling thread only.
void stop_sharing_segv();
/// On the calling thread: if SIGSEGV is blocked, its stand-in is from now on.
void unblock_segv();

/// sigaction(SIGSEGV) as the program means it. Call it when shared.
int change_segv_action(const struct sigaction* action, struct sigaction* old);
/// The program installs a handler of another signal while SIGSEGV is not (yet) shared.
void remember_handler(int signal, const struct sigaction& action);

/// Finds the C library's functions that every execution calls: once, before the children of a fork server do.
void resolve_signal_functions();

/// Masks on their way from the program to the kernel, and back.
void to_kernel(sigset_t& mask);
void to_program(sigset_t& mask);

/// A mask of the program for a call into the kernel.
class KernelMask {
 public:
  explicit KernelMask(const sigset_t* mask) : program_(mask) {
    if (mask == nullptr || !segv_is_shared()) return;
    changed_ = *mask;
    to_kernel(changed_);
    is_changed_ = true;
  }
  const sigset_t* get() const { return is_changed_ ? &changed_ : program_; }

 private:
  const sigset_t* program_;
  bool is_changed_ = false;
  sigset_t changed_;
};

}  // namespace simrt::rt
