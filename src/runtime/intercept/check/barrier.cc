// pthread barriers.
#include <pthread.h>

#include "emit/run_file.h"
#include "intercept/check/call.h"

namespace simrt::rt {
namespace {

using format::EventKind;

bool stays_real(const Object& barrier) { return barrier.depth != 0; }  // shared with other processes

int model_wait(Object& barrier, uintptr_t pc) {
  engine.step({EventKind::SemaphorePost, 0, 0, barrier.address, pc});
  detect::released(barrier.address);
  if (++barrier.arrived >= barrier.count) {
    barrier.arrived = 0;
    ++barrier.round;
    changed(barrier);
    detect::acquired(barrier.address);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  Wait wait;
  wait.until = Until::RoundOver;
  wait.object = &barrier;
  wait.ticket = barrier.round;
  engine.await({EventKind::SemaphoreWait, 0, 0, barrier.address, pc}, wait);
  detect::acquired(barrier.address);
  return 0;
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                      unsigned count) noexcept {
  const int result = SIMRT_REAL(pthread_barrier_init)(barrier, attributes, count);
  if (result != 0 || modelled_thread() == nullptr) return result;
  bool fresh = false;
  engine.objects.forget(address_of(barrier));
  Object& object = engine.objects.find_or_make(address_of(barrier), ObjectKind::Barrier, fresh);
  object.count = count;
  int shared = 0;
  if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
  object.depth = shared == PTHREAD_PROCESS_SHARED ? 1 : 0;
  if (object.depth != 0) run_file.set_uncontrolled(simrt::format::kUncontrolledProcessShared);
  return result;
}

SIMRT_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  if (modelled_thread() != nullptr) engine.objects.forget(address_of(barrier));
  return SIMRT_REAL(pthread_barrier_destroy)(barrier);
}

SIMRT_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const uintptr_t pc = SIMRT_PC;
  const auto real = [&] {
    if (detecting()) detect::released(address_of(barrier));
    const int result = SIMRT_REAL(pthread_barrier_wait)(barrier);
    if (detecting()) detect::acquired(address_of(barrier));
    return result;
  };
  control::Thread* self = modelled_thread();
  if (self == nullptr) return real();
  Object* object = engine.objects.find(address_of(barrier));
  if (object == nullptr || object->kind != ObjectKind::Barrier || stays_real(*object))
    return outside(self, pc, real);
  return model_wait(*object, pc);
}
}
