// The host looks at the counter of points; when it stands still and the thread with the token sleeps in the
// kernel (a raw system call, a lock inside libc) or runs code without points, the host sends it a signal. The
// handler passes the token on.
#include "intercept/check/watchdog.h"

#include <signal.h>
#include <ucontext.h>

#include "emit/run_file.h"
#include "emit/run_modules.h"
#include "intercept/check/call.h"
#include "sys/arch.h"

namespace simrt::rt {
namespace {

using runtime::raw_syscall;

uintptr_t program_counter(void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#endif
}

bool in_runtime(uintptr_t pc) {
  const LoadedModule* mine = module_of(reinterpret_cast<uintptr_t>(&watch_for_host));
  return mine == nullptr || (pc >= mine->begin && pc < mine->end);
}

// sival_int: 1 = the thread sleeps.
void on_signal(int, siginfo_t* info, void* context) {
  const int error = errno;
  if (controlled() && !in_runtime(program_counter(context)))
    engine.pass_on(control::current_thread, info->si_value.sival_int == 1);
  errno = error;
}

}  // namespace

void watch_for_host() {
  struct sigaction action = {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(format::kRunWatchdogSignal, &action, nullptr);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  sigaddset(&unblocked, format::kRunWatchdogSignal);
  sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
}

}  // namespace simrt::rt
