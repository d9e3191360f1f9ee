// Threads: where they are created, when they start and when they end.
#include <pthread.h>
#include <threads.h>

#include "cover/recorder.h"
#include "intercept/call_chain.h"
#include "intercept/lifecycle.h"
#include "intercept/real.h"

using simrt::runtime::capture_call_chain;
using simrt::runtime::recorder;
using simrt::runtime::Thread;

using PthreadRoutine = void* (*)(void*);

extern "C" {
int __real_pthread_create(pthread_t*, const pthread_attr_t*, PthreadRoutine, void*) noexcept;
int __real_thrd_create(thrd_t*, thrd_start_t, void*);
SIMRT_EXPORT int SIMRT_INTERCEPTOR(pthread_create)(pthread_t*, const pthread_attr_t*, PthreadRoutine,
                                                   void*) noexcept;
SIMRT_EXPORT int SIMRT_INTERCEPTOR(thrd_create)(thrd_t*, thrd_start_t, void*);
}

namespace simrt::runtime {
namespace {

// glibc destroys thread-specific data in up to four rounds. The runtime's destructor re-arms itself until the
// last one, so that the other keys' destructors, which are code of the program, still count for the thread.
constexpr int kRounds = 4;

pthread_key_t end_key;
enum class Key : int { None, Making, Made, Failed };
Key key_state = Key::None;
constinit thread_local int rounds_left [[gnu::tls_model("initial-exec")]] = kRounds;

void on_thread_end(void*) {
  Thread* thread = current_thread();
  if (thread == nullptr) return;
  if (--rounds_left > 0) {
    pthread_setspecific(end_key, thread);
  } else {
    recorder.thread_ended(thread);
  }
}

// First function of every recorded thread.
template <class Result>
Result begin(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  const auto routine = reinterpret_cast<Result (*)(void*)>(thread->routine);
  void* routine_argument = thread->argument;
  recorder.thread_started(thread);
  watch_thread_end();
  return routine(routine_argument);
}

// Announces a thread and creates it with `create(first function, its argument)`, which returns 0 for success.
template <class Result, class Create>
int create_recorded(void* caller, Result (*routine)(void*), void* argument, Create create) {
  // Without notice of its end a thread must not be known: its map pointers would be written when it is gone.
  const bool recorded = recorder.will_create_thread() && make_thread_end_key();
  Thread* thread = recorded ? recorder.thread_created(capture_call_chain(caller)) : nullptr;
  if (thread == nullptr) return create(routine, argument);
  thread->routine = reinterpret_cast<void (*)()>(routine);
  thread->argument = argument;
  const int error = create(&begin<Result>, thread);
  if (error != 0) recorder.thread_not_started(thread);
  return error;
}

}  // namespace

bool make_thread_end_key() {
  Key expected = Key::None;
  if (compare_exchange(key_state, expected, Key::Making)) {
    store_release(key_state, pthread_key_create(&end_key, &on_thread_end) == 0 ? Key::Made : Key::Failed);
  }
  while (load_acquire(key_state) == Key::Making) cpu_relax();
  return load_acquire(key_state) == Key::Made;
}

void watch_thread_end() {
  const KeepErrno keep;
  if (current_thread() != nullptr && make_thread_end_key()) pthread_setspecific(end_key, current_thread());
}

}  // namespace simrt::runtime

extern "C" {

int SIMRT_INTERCEPTOR(pthread_create)(pthread_t* thread, const pthread_attr_t* attributes,
                                      PthreadRoutine routine, void* argument) noexcept {
  return simrt::runtime::create_recorded(
      __builtin_return_address(0), routine, argument, [&](PthreadRoutine first, void* first_argument) {
        return SIMRT_REAL(pthread_create)(thread, attributes, first, first_argument);
      });
}

// glibc's thrd_create does not go through the public pthread_create.
int SIMRT_INTERCEPTOR(thrd_create)(thrd_t* thread, thrd_start_t routine, void* argument) {
  return simrt::runtime::create_recorded(__builtin_return_address(0), routine, argument,
                                         [&](thrd_start_t first, void* first_argument) {
                                           return SIMRT_REAL(thrd_create)(thread, first, first_argument);
                                         });
}
}
