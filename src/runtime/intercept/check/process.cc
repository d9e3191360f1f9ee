// Other processes: forks, waiting for children, the end of this one; and what the program may see of
// processors.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/run_file.h"
#include "intercept/check/call.h"
#include "intercept/check/inputs.h"
#include "intercept/check/own_descriptors.h"
#include "intercept/check/segv.h"
#include "intercept/check/start.h"
#include "intercept/check/time_stamp.h"

namespace simrt::rt {
namespace {

// The model's locks exist nowhere else: those that the forking thread holds are taken for real in its child.
void take_held_locks(const control::Thread& self) {
  for (size_t i = 0; i < self.held.size(); ++i) {
    const Object* object = engine.objects.find(self.held[i].lock);
    if (object == nullptr || object->kind != ObjectKind::Lock || object->type == control::LockType::Spin)
      continue;
    auto* mutex = reinterpret_cast<pthread_mutex_t*>(self.held[i].lock);
    for (uint32_t level = 0; level < object->depth; ++level) SIMRT_REAL(pthread_mutex_lock)(mutex);
  }
}

template <class Real>
pid_t fork_with(Real real) {
  if (!detecting()) return real();
  control::Thread* self = modelled_thread();
  if (self != nullptr) engine.step({format::EventKind::External, 0, 0, 0, 0});
  run_file.set_uncontrolled(format::kUncontrolledForkedChild);
  const pid_t result = real();
  if (result > 0) descriptors_inherited_by(Heir::Fork);
  if (result == 0) {
    mode = RunMode::Off;
    give_time_stamps_back();
    run_file.abandon();
    runtime::reset_allocator_in_child();
    detect::fork_child();
    if (self != nullptr) take_held_locks(*self);
  }
  return result;
}

template <class Real>
auto maybe_outside(uintptr_t pc, Real real) {
  control::Thread* self = modelled_thread();
  return self == nullptr ? real() : outside(self, pc, real);
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT pid_t fork() noexcept {
  return fork_with([] { return SIMRT_REAL(fork)(); });
}
SIMRT_EXPORT pid_t _Fork() noexcept {
  return fork_with([] { return SIMRT_REAL(_Fork)(); });
}

SIMRT_EXPORT pid_t wait(int* status) {
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(wait)(status); });
}
SIMRT_EXPORT pid_t waitpid(pid_t child, int* status, int options) {
  if ((options & WNOHANG) != 0) return SIMRT_REAL(waitpid)(child, status, options);
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(waitpid)(child, status, options); });
}
SIMRT_EXPORT pid_t wait4(pid_t child, int* status, int options, struct rusage* usage) noexcept {
  if ((options & WNOHANG) != 0) return SIMRT_REAL(wait4)(child, status, options, usage);
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(wait4)(child, status, options, usage); });
}
SIMRT_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  if ((options & WNOHANG) != 0) return SIMRT_REAL(waitid)(type, id, info, options);
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(waitid)(type, id, info, options); });
}
SIMRT_EXPORT int system(const char* command) {
  if (modelled_thread() != nullptr) descriptors_inherited_by(Heir::Program);
  return maybe_outside(SIMRT_PC, [&] {
    const RealTimeStamps real;
    return SIMRT_REAL(system)(command);
  });
}
SIMRT_EXPORT int pclose(FILE* stream) {
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(pclose)(stream); });
}
SIMRT_EXPORT int pause() {
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(pause)(); });
}
SIMRT_EXPORT int sigwait(const sigset_t* set, int* signal) {
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(sigwait)(set, signal); });
}
SIMRT_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(sigwaitinfo)(set, info); });
}
SIMRT_EXPORT int sigsuspend(const sigset_t* mask) {
  const KernelMask changed(mask);
  return maybe_outside(SIMRT_PC, [&] { return SIMRT_REAL(sigsuspend)(changed.get()); });
}

SIMRT_EXPORT void _exit(int status) {
  end_of_process(status);
  for (;;) SIMRT_REAL(_exit)(status);
}
SIMRT_EXPORT void _Exit(int status) noexcept {
  end_of_process(status);
  for (;;) SIMRT_REAL(_exit)(status);
}
SIMRT_EXPORT void quick_exit(int status) noexcept {
  end_of_process(status);
  for (;;) SIMRT_REAL(quick_exit)(status);
}

// Pinned to one processor the program would start fewer threads than it does elsewhere.
SIMRT_EXPORT int get_nprocs() noexcept {
  return pinned() ? CPU_COUNT(&processors()) : SIMRT_REAL(get_nprocs)();
}
SIMRT_EXPORT long sysconf(int name) noexcept {
  if (name == _SC_AVPHYS_PAGES) note_input(Input::SystemState, "sysconf", SIMRT_PC);
  return pinned() && name == _SC_NPROCESSORS_ONLN ? CPU_COUNT(&processors()) : SIMRT_REAL(sysconf)(name);
}
SIMRT_EXPORT int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) noexcept {
  if (!pinned() || bytes < sizeof(cpu_set_t)) return SIMRT_REAL(sched_getaffinity)(process, bytes, set);
  *set = processors();
  return 0;
}
SIMRT_EXPORT int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) noexcept {
  if (!pinned() || bytes < sizeof(cpu_set_t)) return SIMRT_REAL(pthread_getaffinity_np)(thread, bytes, set);
  *set = processors();
  return 0;
}
SIMRT_EXPORT int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t* set) noexcept {
  return pinned() ? 0 : SIMRT_REAL(sched_setaffinity)(process, bytes, set);
}
SIMRT_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) noexcept {
  return pinned() ? 0 : SIMRT_REAL(pthread_setaffinity_np)(thread, bytes, set);
}
}
