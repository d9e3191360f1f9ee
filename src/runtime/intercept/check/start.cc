// Start and end of a process under a plan.
#include "intercept/check/start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "emit/findings.h"
#include "emit/run_file.h"
#include "emit/run_modules.h"
#include "intercept/check/call.h"
#include "intercept/check/deadline.h"
#include "intercept/check/descriptor_reach.h"
#include "intercept/check/inputs.h"
#include "intercept/check/segv.h"
#include "intercept/check/socket_reach.h"
#include "intercept/check/time_stamp.h"
#include "intercept/check/watchdog.h"

namespace simrt::rt {
namespace {

using format::RunState;
using runtime::raw_syscall;

enum class Phase : uint8_t { NoPlan, Planned, Begun };

constinit Phase phase = Phase::NoPlan;
constinit control::Thread* first_thread = nullptr;
constinit const char* run_path = nullptr;
constinit cpu_set_t all_processors = {};
constinit bool is_pinned = false;

const char* variable(char** environment, const char* name) {
  const size_t n = runtime::length(name);
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (runtime::equal(*environment, name, n) && (*environment)[n] == '=') return *environment + n + 1;
  return nullptr;
}

// One process has the plan: the first that comes. Its children, and what it turns into by exec, run by hand.
bool claim() {
  auto& header = run_file.header();
  const auto pid = static_cast<uint32_t>(raw_syscall(SYS_getpid));
  uint32_t nobody = 0;
  if (__atomic_compare_exchange_n(&header.pid, &nobody, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return true;
  run_file.set_uncontrolled(nobody == pid ? format::kUncontrolledExec : format::kUncontrolledForkedChild);
  run_file.abandon();
  return false;
}

void pin(uint32_t processor) {
  if (raw_syscall(SYS_sched_getaffinity, 0, sizeof all_processors, reinterpret_cast<long>(&all_processors)) <
      0)
    return;
  cpu_set_t one = {};
  CPU_SET(processor, &one);
  is_pinned = raw_syscall(SYS_sched_setaffinity, 0, sizeof one, reinterpret_cast<long>(&one)) >= 0;
}

void on_exit_handler(int status, void*) { end_of_process(status); }

[[gnu::constructor(101)]] void construct(int, char**, char** environment) {
  const char* path = variable(environment, format::kRunVariable);
  if (path == nullptr || *path == '\0' || !run_file.open(path) || !claim()) return;
  if (!run_file.plan_is_legal()) {
    runtime::store_release(run_file.header().state, RunState::Failed);
    return;
  }
  run_path = path;
  note_random_addresses();
  look_who_started_us();
  refresh_modules();
  first_thread = adopt_first_thread();
  if (first_thread == nullptr) return;
  on_exit(&on_exit_handler, nullptr);  // the first one registered: the last one called
  phase = Phase::Planned;
  if (run_file.plan().mode == RunMode::Detect && (run_file.plan().flags & format::kPlanForkServer) == 0)
    begin_execution();
}

// A child of the server: its own process group, dead when the server dies, its output in a file if wanted.
void become_execution() {
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  raw_syscall(SYS_setpgid, 0, 0);
  first_thread->tid = static_cast<int32_t>(raw_syscall(SYS_gettid));
  run_file.begin_execution();
  keep_inputs_before_fork();
  run_file.header().pid = static_cast<uint32_t>(raw_syscall(SYS_getpid));
  if ((run_file.plan().flags & format::kPlanCaptureOutput) == 0) return;
  runtime::Path path;
  path.append(run_path);
  path.append(".out");
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path.text),
                              O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (fd < 0) return;
  raw_syscall(SYS_dup3, fd, 1, 0);
  raw_syscall(SYS_dup3, fd, 2, 0);
  if (fd > 2) raw_syscall(SYS_close, fd);
}

}  // namespace

void begin_execution() {
  if (phase != Phase::Planned) return;
  phase = Phase::Begun;
  refresh_modules();  // those that came before main
  const bool serves = (run_file.plan().flags & format::kPlanForkServer) != 0;
  if (serves || run_file.plan().mode == RunMode::Control) look_for_time_stamps();
  if (serves) resolve_signal_functions();
  if (serves && serve_forks()) become_execution();
  const format::PlanHeader& plan = run_file.plan();
  auto& header = run_file.header();
  if (!run_file.plan_is_legal() || !engine.plan.read()) {
    runtime::store_release(header.state, RunState::Failed);
    return;
  }
  if ((plan.flags & format::kPlanPinToProcessor) != 0) pin(plan.processor);
  write_first_thread(*first_thread);
  if (plan.mode != RunMode::Off && plan.detectors != 0) {
    const bool partial = (plan.flags & format::kPlanSynchronizationOnly) != 0;
    const detect::Watch& watch = engine.plan.watch;
    if (!start_detector(plan, partial, watch.filters() ? &watch : nullptr))
      return runtime::store_release(header.state, RunState::Failed);
  }
  runtime::store_release(header.state, RunState::Running);
  if (plan.mode == RunMode::Control) {
    watch_for_host();
    engine.reach_of = &reach_of_descriptors;
    engine.has_visitors = &has_visitors;
    engine.start(first_thread);
    start_clocks(plan.epoch_ns);
  }
  mode = plan.mode;
  if (controlled()) start_time_stamps();
}

void end_of_process(int status) {
  if (!detecting() || !run_file.is_open()) return;
  auto& header = run_file.header();
  if (header.state != RunState::Running) return;
  if (controlled()) engine.publish();
  header.exit_status = status;
  runtime::store_release(header.state, RunState::Finished);
}

bool pinned() { return is_pinned; }
cpu_set_t& processors() { return all_processors; }

}  // namespace simrt::rt

using namespace simrt::rt;

namespace {

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int planned_main(int argc, char** argv, char** environment) {
  begin_execution();
  return program_main(argc, argv, environment);
}

}  // namespace

extern "C" {

int __libc_start_main(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
SIMRT_EXPORT int __libc_start_main(Main entry, int argc, char** argv, void (*init)(), void (*fini)(),
                                   void (*loader_fini)(), void* stack_end) {
  program_main = entry;
  return SIMRT_REAL(__libc_start_main)(&planned_main, argc, argv, init, fini, loader_fini, stack_end);
}

// New modules: their sites may be watched.
SIMRT_EXPORT void* dlopen(const char* name, int flags) noexcept {
  void* handle = SIMRT_REAL(dlopen)(name, flags);
  if (handle != nullptr && detecting()) {
    refresh_modules();
    if (modelled_thread() != nullptr) {
      engine.plan.resolve_again();
      look_for_time_stamps();
      start_time_stamps();
    } else if (!controlled() && engine.plan.watch.filters()) {
      engine.plan.resolve_again();
      patch_new_modules();
    }
  }
  return handle;
}
}
