// C11 threads. In glibc these call internal twins of the pthread functions, which cannot be interposed;
// mtx_t, cnd_t and once_flag are the pthread types under other names.
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "intercept/check/call.h"
#include "intercept/check/deadline.h"

namespace simrt::rt {
namespace {

int to_thrd(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* as_mutex(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* as_condition(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t) &&
              sizeof(once_flag) == sizeof(pthread_once_t));

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

// glibc's mtx_plain is the normal type, so an exclusive pthread mutex of that type is the same bits.
SIMRT_EXPORT int mtx_init(mtx_t* mutex, int type) {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(mutex));
  return SIMRT_REAL(mtx_init)(mutex, type);
}
SIMRT_EXPORT void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(as_mutex(mutex)); }
SIMRT_EXPORT int mtx_lock(mtx_t* mutex) { return to_thrd(pthread_mutex_lock(as_mutex(mutex))); }
SIMRT_EXPORT int mtx_trylock(mtx_t* mutex) { return to_thrd(pthread_mutex_trylock(as_mutex(mutex))); }
SIMRT_EXPORT int mtx_timedlock(mtx_t* mutex, const struct timespec* limit) {
  return to_thrd(pthread_mutex_timedlock(as_mutex(mutex), limit));
}
SIMRT_EXPORT int mtx_unlock(mtx_t* mutex) { return to_thrd(pthread_mutex_unlock(as_mutex(mutex))); }

SIMRT_EXPORT int cnd_init(cnd_t* condition) {
  return to_thrd(pthread_cond_init(as_condition(condition), nullptr));
}
SIMRT_EXPORT void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(as_condition(condition)); }
SIMRT_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return to_thrd(pthread_cond_wait(as_condition(condition), as_mutex(mutex)));
}
SIMRT_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const struct timespec* limit) {
  return to_thrd(pthread_cond_timedwait(as_condition(condition), as_mutex(mutex), limit));
}
SIMRT_EXPORT int cnd_signal(cnd_t* condition) {
  return to_thrd(pthread_cond_signal(as_condition(condition)));
}
SIMRT_EXPORT int cnd_broadcast(cnd_t* condition) {
  return to_thrd(pthread_cond_broadcast(as_condition(condition)));
}

SIMRT_EXPORT void call_once(once_flag* flag, void (*routine)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}

SIMRT_EXPORT int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(static_cast<pthread_t>(thread), &value);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return to_thrd(error);
}
SIMRT_EXPORT int thrd_detach(thrd_t thread) {
  return to_thrd(pthread_detach(static_cast<pthread_t>(thread)));
}
}
