// The fork server (RunServer in run.h): one process start, many executions.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/run_file.h"
#include "intercept/check/call.h"
#include "intercept/check/start.h"
#include "sys/futex.h"

namespace simrt::rt {
namespace {

using runtime::raw_syscall;

// Blocks until the host raises the request above `served`.
uint32_t next_request(format::RunServer& server, uint32_t served) {
  for (;;) {
    const uint32_t request = __atomic_load_n(&server.request, __ATOMIC_ACQUIRE);
    if (request != served) return request;
    runtime::futex_wait(&server.request, static_cast<int32_t>(served), 0, true);
  }
}

void reply(uint32_t& word, uint32_t value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  runtime::futex_wake(&word, 1, true);
}

}  // namespace

bool serve_forks() {
  auto& server = run_file.header().server;
  if (has_other_threads()) {
    reply(server.ready, 2);
    return false;
  }
  fflush(nullptr);
  run_file.make_permanent();
  uint32_t served = __atomic_load_n(&server.request, __ATOMIC_ACQUIRE);
  reply(server.ready, 1);
  for (;;) {
    served = next_request(server, served);
    if (served == format::kRunNone) raw_syscall(SYS_exit_group, 0);
    const pid_t child = SIMRT_REAL(_Fork)();
    if (child == 0) return true;
    int status = -1;
    if (child > 0) {
      __atomic_store_n(&server.child, static_cast<uint32_t>(child), __ATOMIC_RELEASE);
      while (raw_syscall(SYS_wait4, child, reinterpret_cast<long>(&status), 0, 0) == -EINTR) {
      }
      __atomic_store_n(&server.child, 0, __ATOMIC_RELEASE);
    }
    server.wait_status = status;
    reply(server.reply, served);
  }
}

}  // namespace simrt::rt
