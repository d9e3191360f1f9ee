#include "intercept/check/segv.h"

#include <errno.h>

#include "intercept/real.h"
#include "simrt/format/run.h"
#include "sys/time_stamp.h"

namespace simrt::rt {
namespace {

using runtime::raw_syscall;
using Handler = void (*)(int, siginfo_t*, void*);

// Real-time signals are given out from either end; programs leave those beside the watchdog's alone.
constexpr int kStandIn = format::kRunWatchdogSignal - 1;
constexpr size_t kMaskBytes = 8;  // the kernel's

constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

constinit FaultFilter filter = nullptr;
constinit bool shared = false;
constinit long owner = 0;                 // a child by vfork has our memory, but signal actions of its own
constinit struct sigaction program = {};  // what the program wants done
// Signals whose handlers block SIGSEGV, from before it was shared.
constinit uint64_t blocked_by_handlers = 0;

uint64_t change_mask(int how, uint64_t mask) {
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&before),
              kMaskBytes);
  return before;
}

bool is_handler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// What the kernel does by itself: back at the fault, the signal comes again and ends the process there. Sent
// with what was known of it, for the core file.
void end_by_signal(siginfo_t* info) {
  const uint64_t standard[4] = {};  // the kernel's sigaction: SIG_DFL
  raw_syscall(SYS_rt_sigaction, SIGSEGV, reinterpret_cast<long>(standard), 0, kMaskBytes);
  change_mask(SIG_BLOCK, bit(SIGSEGV));  // until this handler returns
  raw_syscall(SYS_rt_tgsigqueueinfo, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), SIGSEGV,
              reinterpret_cast<long>(info));
}

// Somebody sent it while the program blocks it: it stays pending, for which it has to be blocked in earnest.
void keep_pending(siginfo_t* info, ucontext_t* context) {
  runtime::allow_time_stamps();
  change_mask(SIG_BLOCK, bit(SIGSEGV));
  sigaddset(&context->uc_sigmask, SIGSEGV);
  raw_syscall(SYS_rt_tgsigqueueinfo, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), SIGSEGV,
              reinterpret_cast<long>(info));
}

// The handler of the program that is to run; null when there is none and all is done.
Handler program_handler(siginfo_t* info, ucontext_t* context) {
  const bool fault = info->si_code > 0;  // not sent by anybody
  const bool blocked = sigismember(&context->uc_sigmask, kStandIn) == 1;
  if (blocked && !fault) return keep_pending(info, context), nullptr;
  if (program.sa_handler == SIG_IGN && !fault) return nullptr;
  if (blocked || !is_handler(program)) return end_by_signal(info), nullptr;
  const Handler handler = program.sa_sigaction;
  if ((program.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) program.sa_handler = SIG_DFL;
  return handler;
}

void on_segv(int signal, siginfo_t* info, void* context) {
  auto* registers = static_cast<ucontext_t*>(context);
  const int error = errno;
  const bool ours = filter(info, registers);
  errno = error;
  if (ours) return;
  // A jump (-O2): the program's handler stands where it would without us.
  if (const Handler handler = program_handler(info, registers); handler != nullptr)
    return handler(signal, info, context);
}

// Stack and mask are as the program's handler wants them; what we do is short.
int install() {
  struct sigaction action = {};
  action.sa_sigaction = &on_segv;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (is_handler(program)) {
    action.sa_flags |= program.sa_flags & (SA_ONSTACK | SA_RESTART);
    action.sa_mask = program.sa_mask;
    if ((program.sa_flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, SIGSEGV);
    to_kernel(action.sa_mask);
  } else {
    action.sa_flags |= SA_RESTART;
  }
  return SIMRT_REAL(sigaction)(SIGSEGV, &action, nullptr);
}

void change_handlers_masks() {
  for (int signal = 1; signal <= 64; ++signal) {
    struct sigaction action;
    if ((blocked_by_handlers & bit(signal)) == 0 || SIMRT_REAL(sigaction)(signal, nullptr, &action) != 0)
      continue;
    to_kernel(action.sa_mask);
    SIMRT_REAL(sigaction)(signal, &action, nullptr);
  }
  blocked_by_handlers = 0;
}

}  // namespace

void to_kernel(sigset_t& mask) {
  if (sigismember(&mask, SIGSEGV) == 1) {
    sigaddset(&mask, kStandIn);
  } else {
    sigdelset(&mask, kStandIn);
  }
  sigdelset(&mask, SIGSEGV);
}

void to_program(sigset_t& mask) {
  if (sigismember(&mask, kStandIn) == 1) sigaddset(&mask, SIGSEGV);
}

void share_segv(FaultFilter ours) {
  filter = ours;
  owner = raw_syscall(SYS_getpid);
  SIMRT_REAL(sigaction)(SIGSEGV, nullptr, &program);
  install();
  change_handlers_masks();
  shared = true;
}

bool segv_is_shared() { return shared; }

void stop_sharing_segv() {
  shared = false;
  SIMRT_REAL(sigaction)(SIGSEGV, &program, nullptr);
  if ((change_mask(SIG_UNBLOCK, bit(kStandIn)) & bit(kStandIn)) != 0) change_mask(SIG_BLOCK, bit(SIGSEGV));
}

void unblock_segv() {
  if ((change_mask(SIG_UNBLOCK, bit(SIGSEGV)) & bit(SIGSEGV)) != 0) change_mask(SIG_BLOCK, bit(kStandIn));
}

int change_segv_action(const struct sigaction* action, struct sigaction* old) {
  const struct sigaction before = program;
  if (raw_syscall(SYS_getpid) != owner) {
    runtime::allow_time_stamps();
    if (const int error = SIMRT_REAL(sigaction)(SIGSEGV, action, nullptr); error != 0) return error;
  } else if (action != nullptr) {
    program = *action;
    install();
  }
  if (old != nullptr) *old = before;
  return 0;
}

void remember_handler(int signal, const struct sigaction& action) {
  if (signal < 1 || signal > 64) return;
  const bool blocks = is_handler(action) && sigismember(&action.sa_mask, SIGSEGV) == 1;
  const bool known = (blocked_by_handlers & bit(signal)) != 0;
  if (blocks != known) blocked_by_handlers ^= bit(signal);
}

}  // namespace simrt::rt
