// syscall(SYS_futex, ...): what the C++ library's atomic waits, semaphores, latches, futures and guards use.
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "intercept/check/call.h"
#include "intercept/check/counted.h"
#include "intercept/check/deadline.h"
#include "intercept/check/inputs.h"
#include "intercept/check/own_descriptors.h"
#include "intercept/check/time_stamp.h"
#include "sys/arch.h"

namespace simrt::rt {
namespace {

using format::EventKind;

struct Arguments {
  long a, b, c, d, e, f;
};

long failed(int error) {
  errno = error;
  return -1;
}

Object& model_of(uintptr_t word) {
  bool fresh = false;
  return engine.objects.find_or_make(word, ObjectKind::Futex, fresh);
}

void remove(Object& futex, const control::Thread* self) {
  size_t kept = 0;
  for (size_t i = 0; i < futex.waiters.size(); ++i)
    if (futex.waiters[i] != self) futex.waiters[kept++] = futex.waiters[i];
  while (futex.waiters.size() > kept) futex.waiters.pop();
}

// FUTEX_WAIT has a span, FUTEX_WAIT_BITSET a point in time.
uint64_t deadline_of(const Arguments& call, int command, bool realtime) {
  const auto* limit = reinterpret_cast<const struct timespec*>(call.d);
  if (limit == nullptr) return Wait::kForever;
  if (command == FUTEX_WAIT) return deadline_in(nanoseconds(*limit));
  return deadline_at(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, nanoseconds(*limit));
}

long model_wait(control::Thread* self, const Arguments& call, uint64_t deadline, uintptr_t pc) {
  const auto word = static_cast<uintptr_t>(call.a);
  const uintptr_t caller = library_caller(pc);
  engine.step({EventKind::Wait, 0, 0, word, pc, caller});
  if (__atomic_load_n(reinterpret_cast<const int*>(word), __ATOMIC_ACQUIRE) != static_cast<int>(call.c)) {
    control::unchanged(false);
    engine.amend(EventKind::AtomicLoad);
    return failed(EAGAIN);
  }
  Object& futex = model_of(word);
  futex.waiters.push(self);
  self->notified = false;
  Wait wait;
  wait.until = Until::Notified;
  wait.object = &futex;
  wait.deadline = deadline;
  const Outcome outcome = engine.await({EventKind::Woken, 0, 0, word, pc, caller}, wait);
  // Requeued ones sleep on another word by now.
  engine.objects.for_each([&](Object& object) {
    if (object.kind == ObjectKind::Futex) remove(object, self);
  });
  if (outcome == Outcome::TimedOut) return failed(ETIMEDOUT);
  detect::acquired(word);
  return 0;
}

long wake(Object& futex, long count, const Operation& operation) {
  long woken = 0;
  for (; woken < count && futex.waiters.size() > 0; ++woken) {
    control::Thread* waiter = futex.waiters[engine.choose_waiter(futex, operation)];
    waiter->notified = true;
    remove(futex, waiter);
  }
  if (woken > 0) engine.disturb();
  return woken;
}

long model_wake(const Arguments& call, uintptr_t pc) {
  const auto word = static_cast<uintptr_t>(call.a);
  const Operation operation = {call.c == 1 ? EventKind::Notify : EventKind::NotifyAll, 0, 0, word, pc};
  engine.step(operation);
  detect::released(word);
  return wake(model_of(word), call.c, operation);
}

long model_requeue(const Arguments& call, bool compares, uintptr_t pc) {
  const auto word = static_cast<uintptr_t>(call.a);
  const Operation operation = {EventKind::NotifyAll, 0, 0, word, pc};
  engine.step(operation);
  if (compares &&
      __atomic_load_n(reinterpret_cast<const int*>(word), __ATOMIC_ACQUIRE) != static_cast<int>(call.f))
    return failed(EAGAIN);
  detect::released(word);
  Object& from = model_of(word);
  const long woken = wake(from, call.c, operation);
  Object& to = model_of(static_cast<uintptr_t>(call.e));
  long moved = 0;
  for (; moved < call.d && from.waiters.size() > 0; ++moved) {
    control::Thread* waiter = from.waiters[0];
    remove(from, waiter);
    waiter->wait.object = &to;
    --from.asking;
    ++to.asking;
    to.waiters.push(waiter);
  }
  return woken + (compares ? moved : 0);
}

long real_call(long number, const Arguments& call) {
  const long result = runtime::raw_syscall(number, call.a, call.b, call.c, call.d, call.e, call.f);
  if (result < 0 && result > -4096) return failed(static_cast<int>(-result));
  return result;
}

long futex(const Arguments& call, uintptr_t pc) {
  control::Thread* self = modelled_thread();
  const auto operation = static_cast<int>(call.b);
  const int command = operation & FUTEX_CMD_MASK;
  if (self == nullptr) {
    const bool wakes = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_REQUEUE ||
                       command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP;
    if (wakes && detecting()) detect::released(static_cast<uintptr_t>(call.a));
    const long result = real_call(SYS_futex, call);
    if (!wakes && detecting()) detect::acquired(static_cast<uintptr_t>(call.a));
    return result;
  }
  switch (command) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return model_wait(self, call, deadline_of(call, command, (operation & FUTEX_CLOCK_REALTIME) != 0), pc);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return model_wake(call, pc);
    case FUTEX_REQUEUE:
      return model_requeue(call, false, pc);
    case FUTEX_CMP_REQUEUE:
      return model_requeue(call, true, pc);
    default:
      return outside(self, pc, [&] { return real_call(SYS_futex, call); });
  }
}

void note_number(long number, uintptr_t pc) {
  if (number == SYS_getrandom) note_input(Input::RandomNumber, "getrandom", pc);
  if (number == SYS_getpid) note_input(Input::ProcessNumber, "getpid", pc);
  if (number == SYS_gettid) note_input(Input::ProcessNumber, "gettid", pc);
  if (number == SYS_clock_gettime) note_input(Input::Clock, "syscall(clock_gettime)", pc);
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" SIMRT_EXPORT long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  Arguments call = {};
  call.a = va_arg(list, long);
  call.b = va_arg(list, long);
  call.c = va_arg(list, long);
  call.d = va_arg(list, long);
  call.e = va_arg(list, long);
  call.f = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && detecting()) return futex(call, SIMRT_PC);
  note_number(number, SIMRT_PC);
  if (number == SYS_io_setup || number == SYS_io_uring_setup) own_descriptors.kernel_counts();
  if (number == SYS_clone || number == SYS_clone3
#ifdef SYS_fork
      || number == SYS_fork
#endif
  )
    descriptors_inherited_by(Heir::Fork);
  if (number == SYS_execve || number == SYS_execveat) {
    const RealTimeStamps real;
    return real_call(number, call);
  }
  return real_call(number, call);
}
