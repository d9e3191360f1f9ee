// Signal actions and masks, as far as SIGSEGV is concerned (segv.h).
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "intercept/check/segv.h"
#include "intercept/real.h"

namespace simrt::rt {
namespace {

using SimpleHandler = void (*)(int);

bool concerns_us(int signal) { return signal == SIGSEGV && segv_is_shared(); }

// Returns the handler before, SIG_ERR if there was an error.
SimpleHandler set_segv_handler(SimpleHandler handler, int flags, bool blocks_itself) {
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (blocks_itself) sigaddset(&action.sa_mask, SIGSEGV);
  return change_segv_action(&action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

template <class Real>
int change_mask(int how, const sigset_t* mask, sigset_t* old, Real real) {
  if (!segv_is_shared()) return real(how, mask, old);
  sigset_t kernel;
  if (mask != nullptr) {
    kernel = *mask;
    to_kernel(kernel);
    // In earnest it is blocked where it is pending.
    if (how == SIG_UNBLOCK && sigismember(mask, SIGSEGV) == 1) sigaddset(&kernel, SIGSEGV);
  }
  const int result = real(how, mask == nullptr ? nullptr : &kernel, old);
  if (result == 0 && old != nullptr) to_program(*old);
  return result;
}

// Signals 1 to 32 in one word.
int change_old_mask(int how, int word) {
  sigset_t mask, old;
  sigemptyset(&mask);
  mask.__val[0] = static_cast<unsigned>(word);
  if (change_mask(how, &mask, &old, SIMRT_REAL(sigprocmask)) != 0) return -1;
  return static_cast<int>(old.__val[0]);
}

// Whether SIGSEGV was blocked.
bool change_segv_mask(int how) {
  sigset_t mask, old;
  sigemptyset(&mask);
  sigaddset(&mask, SIGSEGV);
  change_mask(how, &mask, &old, SIMRT_REAL(sigprocmask));
  return sigismember(&old, SIGSEGV) == 1;
}

}  // namespace

void resolve_signal_functions() {
  struct sigaction action;
  sigset_t mask;
  sigaction(SIGSEGV, nullptr, &action);
  sigprocmask(SIG_BLOCK, nullptr, &mask);
}

}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  if (concerns_us(signal)) return change_segv_action(action, old);
  if (!segv_is_shared()) {
    if (action != nullptr) remember_handler(signal, *action);
    return SIMRT_REAL(sigaction)(signal, action, old);
  }
  struct sigaction changed;
  if (action != nullptr) {
    changed = *action;
    to_kernel(changed.sa_mask);
  }
  const int result = SIMRT_REAL(sigaction)(signal, action == nullptr ? nullptr : &changed, old);
  if (result == 0 && old != nullptr) to_program(old->sa_mask);
  return result;
}
int __sigaction(int, const struct sigaction*, struct sigaction*) noexcept;
SIMRT_EXPORT int __sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return sigaction(signal, action, old);
}

// The other ways to say it, with the meaning that glibc gives them.
SIMRT_EXPORT SimpleHandler signal(int number, SimpleHandler handler) noexcept {
  return concerns_us(number) ? set_segv_handler(handler, SA_RESTART, true)
                             : SIMRT_REAL(signal)(number, handler);
}
SimpleHandler bsd_signal(int, SimpleHandler) noexcept;
SIMRT_EXPORT SimpleHandler bsd_signal(int number, SimpleHandler handler) noexcept {
  return signal(number, handler);
}
SIMRT_EXPORT SimpleHandler ssignal(int number, SimpleHandler handler) noexcept {
  return signal(number, handler);
}
SIMRT_EXPORT SimpleHandler __sysv_signal(int signal, SimpleHandler handler) noexcept {
  return concerns_us(signal)
             ? set_segv_handler(handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER | SA_INTERRUPT, false)
             : SIMRT_REAL(__sysv_signal)(signal, handler);
}
SIMRT_EXPORT SimpleHandler sysv_signal(int number, SimpleHandler handler) noexcept {
  return __sysv_signal(number, handler);
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // glibc calls these so; programs use them still
SIMRT_EXPORT SimpleHandler sigset(int signal, SimpleHandler handler) noexcept {
  if (!concerns_us(signal)) return SIMRT_REAL(sigset)(signal, handler);
  struct sigaction old = {};
  change_segv_action(nullptr, &old);
  const bool holds = handler == SIG_HOLD;
  if (!holds) set_segv_handler(handler, 0, false);
  return change_segv_mask(holds ? SIG_BLOCK : SIG_UNBLOCK) ? SIG_HOLD : old.sa_handler;
}
SIMRT_EXPORT int sigignore(int signal) noexcept {
  if (!concerns_us(signal)) return SIMRT_REAL(sigignore)(signal);
  set_segv_handler(SIG_IGN, 0, false);
  return 0;
}
SIMRT_EXPORT int sighold(int signal) noexcept {
  if (!concerns_us(signal)) return SIMRT_REAL(sighold)(signal);
  change_segv_mask(SIG_BLOCK);
  return 0;
}
SIMRT_EXPORT int sigrelse(int signal) noexcept {
  if (!concerns_us(signal)) return SIMRT_REAL(sigrelse)(signal);
  change_segv_mask(SIG_UNBLOCK);
  return 0;
}
#pragma GCC diagnostic pop

SIMRT_EXPORT int sigprocmask(int how, const sigset_t* mask, sigset_t* old) noexcept {
  return change_mask(how, mask, old, SIMRT_REAL(sigprocmask));
}
SIMRT_EXPORT int pthread_sigmask(int how, const sigset_t* mask, sigset_t* old) noexcept {
  return change_mask(how, mask, old, SIMRT_REAL(pthread_sigmask));
}
SIMRT_EXPORT int sigblock(int mask) noexcept { return change_old_mask(SIG_BLOCK, mask); }
SIMRT_EXPORT int sigsetmask(int mask) noexcept { return change_old_mask(SIG_SETMASK, mask); }

SIMRT_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* mask) {
  return SIMRT_REAL(pthread_attr_setsigmask_np)(attributes, KernelMask(mask).get());
}
SIMRT_EXPORT int pthread_attr_getsigmask_np(const pthread_attr_t* attributes, sigset_t* mask) {
  const int result = SIMRT_REAL(pthread_attr_getsigmask_np)(attributes, mask);
  if (result == 0 && segv_is_shared()) to_program(*mask);
  return result;
}
}
