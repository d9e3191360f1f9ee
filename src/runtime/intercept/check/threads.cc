// Threads of a check build: their creation, start, end, join and cancellation.
#include <pthread.h>
#include <signal.h>
#include <threads.h>
#include <time.h>

#include <new>

#include "emit/run_file.h"
#include "intercept/check/call.h"
#include "intercept/check/counted.h"
#include "intercept/check/deadline.h"
#include "intercept/check/start.h"
#include "intercept/check/time_stamp.h"
#include "sys/lock.h"

namespace simrt::rt {
namespace {

using control::Standing;
using control::Thread;
using format::EventKind;
using PthreadRoutine = void* (*)(void*);

// glibc destroys thread-specific data in up to four rounds; the last one is behind the program's own
// destructors.
constexpr int kRounds = 4;

pthread_key_t end_key;
bool has_end_key = false;
constinit thread_local int rounds_left [[gnu::tls_model("initial-exec")]] = kRounds;

runtime::SpinLock lock;  // free-running only; under control the token is lock enough
runtime::Array<Thread*> all;

void on_thread_end(void* argument) {
  if (--rounds_left > 0) {
    pthread_setspecific(end_key, argument);
    return;
  }
  auto* self = static_cast<Thread*>(argument);
  if (detecting()) detect::thread_ended();
  if (controlled()) {
    if (self->standing == Standing::Outside) engine.come_back(self);  // passed over meanwhile
    engine.end(self);
  } else {
    runtime::store_release(self->standing, Standing::Ended);
  }
}

void watch_end(Thread* self) {
  if (has_end_key) pthread_setspecific(end_key, self);
}

Thread* new_thread(uintptr_t caller) {
  void* memory = runtime::allocate(sizeof(Thread));
  if (memory == nullptr) return nullptr;
  auto* thread = new (memory) Thread();
  const Thread* parent = control::current_thread;
  thread->parent = parent != nullptr ? parent->index : format::kRunNone;
  if (controlled()) {
    thread->index = static_cast<uint32_t>(engine.threads().size());
  } else {
    const runtime::Guard guard(lock);
    thread->index = static_cast<uint32_t>(all.size());
    all.push(thread);
  }
  thread->operation = {EventKind::Begin, 0, 0, thread->index, caller};
  return thread;
}

void write_record(const Thread& thread, const runtime::CallChain& chain) {
  run_file.append<format::RunThread>(chain.count * sizeof(uint64_t), [&](format::RunThread& record) {
    record.index = thread.index;
    record.parent = thread.parent;
    record.frame_count = static_cast<uint32_t>(chain.count);
    auto* frames = items_of<uint64_t>(&record);
    for (size_t i = 0; i < chain.count; ++i) frames[i] = chain.frames[i];
  });
  run_file.header().threads = thread.index + 1;
}

// Signals wait until a new thread is known: a handler that runs before would be taken for a thread of its
// own, which waits for its turn while the real one never begins.
constexpr uint64_t kOfLibc = uint64_t{3} << 31;            // 32, 33: cancellation, set*id
constexpr uint64_t kFault = uint64_t{1} << (SIGSEGV - 1);  // a fault while it is blocked ends the process

uint64_t change_signal_mask(uint64_t mask) {
  uint64_t before = 0;
  runtime::raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask),
                       reinterpret_cast<long>(&before), sizeof mask);
  return before;
}

// A mask in the attributes replaces the creator's.
bool has_own_signal_mask(const pthread_attr_t* attributes) {
  sigset_t mask;
  return attributes != nullptr && pthread_attr_getsigmask_np(attributes, &mask) == 0;
}

// The stack may have been another thread's, whose accesses are no partners of this one's.
void announce_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &begin, &size) == 0)
    detect::thread_memory(reinterpret_cast<uintptr_t>(begin), size);
  pthread_attr_destroy(&attributes);
}

template <class Result>
Result begin(void* argument) {
  auto* self = static_cast<Thread*>(argument);
  const auto routine = reinterpret_cast<Result (*)(void*)>(self->routine);
  void* routine_argument = self->argument;
  watch_end(self);
  if (controlled()) {
    engine.begin(self);
  } else {
    control::current_thread = self;
  }
  if (self->signals_held) change_signal_mask(self->signal_mask);
  detect::thread_started(self->index);
  announce_stack();
  return routine(routine_argument);
}

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

// Creates a thread with `create(first function, its argument)`, which returns 0 for success.
template <class Result, class Create>
int create_thread(uintptr_t pc, Result (*routine)(void*), void* argument, const pthread_attr_t* attributes,
                  Create create) {
  begin_execution();  // threads that start before main run under the plan, too
  if (!detecting() || (controlled() && modelled_thread() == nullptr)) return create(routine, argument);
  Thread* parent = modelled_thread();
  Thread* thread = new_thread(pc);
  if (thread == nullptr) return create(routine, argument);
  thread->routine = reinterpret_cast<void (*)()>(routine);
  thread->argument = argument;
  thread->detached = is_detached(attributes);
  if (parent != nullptr) {
    engine.add(thread);  // the index is taken before others can run
    engine.step({EventKind::Create, 0, 0, thread->index, pc});
  }
  write_record(*thread, call_chain(pc));
  detect::thread_created(thread->index, pc);
  thread->signals_held = !has_own_signal_mask(attributes);
  if (thread->signals_held) thread->signal_mask = change_signal_mask(~(kOfLibc | kFault));
  const int error = create(&begin<Result>, thread);
  if (thread->signals_held) change_signal_mask(thread->signal_mask);
  if (error != 0) {
    if (parent != nullptr) engine.never_began(thread);
    thread->standing = Standing::Ended;
    return error;
  }
  if (parent != nullptr) {
    thread->standing = Standing::Alive;
    engine.disturb();
  } else if (thread->standing == Standing::Created) {
    Standing expected = Standing::Created;
    runtime::compare_exchange(thread->standing, expected, Standing::Alive);
  }
  return 0;
}

void remember_handle(pthread_t handle, const void* first_argument) {
  auto* thread = static_cast<Thread*>(const_cast<void*>(first_argument));
  thread->handle = handle;
  runtime::store_release(thread->has_handle, true);
}

const runtime::Array<Thread*>& known_threads() { return controlled() ? engine.threads() : all; }

// The last one that got this handle and was not joined.
Thread* thread_of(pthread_t handle) {
  if (!detecting()) return nullptr;
  const bool guarded = !controlled();
  if (guarded) lock.lock();
  const auto& threads = known_threads();
  Thread* found = nullptr;
  for (size_t i = threads.size(); i-- > 0 && found == nullptr;) {
    Thread* thread = threads[i];
    if (thread != nullptr && thread->has_handle && !thread->joined && thread->handle == handle)
      found = thread;
  }
  if (guarded) lock.unlock();
  return found;
}

// Waits in the model; 0, ETIMEDOUT, or EINTR when cancelled.
int await_end(Thread* target, uint64_t deadline, uintptr_t pc) {
  Wait wait;
  wait.until = Until::ThreadEnded;
  wait.target = target;
  wait.deadline = deadline;
  wait.cancellable = true;
  const Operation operation = {EventKind::Join, mark_of(deadline), 0, target->index, pc, library_caller(pc)};
  switch (engine.await(operation, wait)) {
    case Outcome::Done:
      return 0;
    case Outcome::TimedOut:
      return ETIMEDOUT;
    case Outcome::Cancelled:
      break;
  }
  pthread_testcancel();
  return EINTR;
}

template <class Real>
int join(pthread_t handle, uint64_t deadline, uintptr_t pc, Real real) {
  Thread* target = thread_of(handle);
  control::Thread* self = modelled_thread();
  if (self != nullptr && target == self) return EDEADLK;
  if (self != nullptr && target != nullptr && !target->detached) {
    if (const int error = await_end(target, deadline, pc); error != 0) return error;
  }
  const int result = real();
  if (result == 0 && target != nullptr) {
    target->joined = true;
    detect::thread_joined(target->index, pc);
  }
  return result;
}

}  // namespace

Thread* adopt_first_thread() {
  has_end_key = pthread_key_create(&end_key, &on_thread_end) == 0;
  void* memory = runtime::allocate(sizeof(Thread));
  if (memory == nullptr) return nullptr;
  auto* self = new (memory) Thread();
  self->standing = Standing::Alive;
  self->tid = static_cast<int32_t>(runtime::raw_syscall(SYS_gettid));
  self->handle = pthread_self();
  self->has_handle = true;
  all.push(self);
  control::current_thread = self;
  watch_end(self);
  engine.on_foreign = [](Thread* foreign) {
    watch_end(foreign);
    forbid_time_stamps_here();
  };
  return self;
}

bool has_other_threads() { return all.size() > 1; }

void write_first_thread(const Thread& self) { write_record(self, runtime::CallChain{}); }

}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, PthreadRoutine routine,
                                void* argument) noexcept {
  return create_thread(
      SIMRT_PC, routine, argument, attributes, [&](PthreadRoutine first, void* first_argument) {
        const int error = SIMRT_REAL(pthread_create)(thread, attributes, first, first_argument);
        if (error == 0 && first != routine) remember_handle(*thread, first_argument);
        return error;
      });
}

SIMRT_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  return create_thread(SIMRT_PC, routine, argument, nullptr, [&](thrd_start_t first, void* first_argument) {
    const int error = SIMRT_REAL(thrd_create)(thread, first, first_argument);
    if (error == thrd_success && first != routine)
      remember_handle(static_cast<pthread_t>(*thread), first_argument);
    return error;
  });
}

SIMRT_EXPORT int pthread_join(pthread_t thread, void** result) {
  return join(thread, Wait::kForever, SIMRT_PC, [&] { return SIMRT_REAL(pthread_join)(thread, result); });
}

SIMRT_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  Thread* target = thread_of(thread);
  if (control::Thread* self = modelled_thread(); self != nullptr && target != nullptr) {
    if (target == self) return fails_by_itself(self, target->index, SIMRT_PC);
    engine.step({EventKind::Join, simrt::format::kEventTried, 0, target->index, SIMRT_PC});
    if (target->standing != Standing::Ended) {
      control::unchanged(false);
      engine.amend(EventKind::TryFailed);
      return EBUSY;
    }
    return join(thread, Wait::kForever, SIMRT_PC, [&] { return SIMRT_REAL(pthread_join)(thread, result); });
  }
  return join(thread, Wait::kForever, SIMRT_PC,
              [&] { return SIMRT_REAL(pthread_tryjoin_np)(thread, result); });
}

SIMRT_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const struct timespec* limit) {
  if (modelled_thread() == nullptr)
    return join(thread, Wait::kForever, SIMRT_PC,
                [&] { return SIMRT_REAL(pthread_timedjoin_np)(thread, result, limit); });
  return join(thread, deadline_at(CLOCK_REALTIME, nanoseconds(*limit)), SIMRT_PC,
              [&] { return SIMRT_REAL(pthread_join)(thread, result); });
}

SIMRT_EXPORT int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                      const struct timespec* limit) {
  if (modelled_thread() == nullptr)
    return join(thread, Wait::kForever, SIMRT_PC,
                [&] { return SIMRT_REAL(pthread_clockjoin_np)(thread, result, clock, limit); });
  return join(thread, deadline_at(clock, nanoseconds(*limit)), SIMRT_PC,
              [&] { return SIMRT_REAL(pthread_join)(thread, result); });
}

SIMRT_EXPORT int pthread_detach(pthread_t thread) noexcept {
  if (Thread* target = thread_of(thread); target != nullptr) target->detached = true;
  return SIMRT_REAL(pthread_detach)(thread);
}

SIMRT_EXPORT int pthread_cancel(pthread_t thread) {
  if (modelled_thread() != nullptr) {
    run_file.set_uncontrolled(simrt::format::kUncontrolledCancelled);
    if (Thread* target = thread_of(thread); target != nullptr) {
      engine.step({EventKind::Notify, 0, 0, target->index, SIMRT_PC});
      target->cancelled = true;
      engine.disturb();
    }
  }
  return SIMRT_REAL(pthread_cancel)(thread);
}
}
