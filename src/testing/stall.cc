#include "testing/stall.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

namespace simrt::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kSleepPatience{20}, kRunPatience{400}, kBetween{10};

// 'R', 'S', 'D', ...; 0 when the thread is gone.
char state_of(std::uint32_t process, std::uint32_t thread) {
  std::ifstream in(fmt::format("/proc/{}/task/{}/stat", process, thread));
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '\0' : text[name_end + 2];
}

void nudge(std::uint32_t process, std::uint32_t thread, bool sleeps) {
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  info.si_signo = format::kRunWatchdogSignal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = sleeps ? 1 : 0;
  syscall(SYS_rt_tgsigqueueinfo, process, thread, format::kRunWatchdogSignal, &info);
}

}  // namespace

void StallWatch::look() {
  const auto now = steady_clock::now();
  const std::uint64_t points = __atomic_load_n(&header_.points, __ATOMIC_RELAXED);
  if (points != points_ || header_.state != format::RunState::Running || header_.threads < 2 ||
      header_.current_thread == format::kRunNone) {
    points_ = points;
    since_ = now;
    return;
  }
  if (now - since_ < kSleepPatience || now - nudged_ < kBetween) return;
  const std::uint32_t process = header_.pid, thread = header_.current_tid;
  const char state = state_of(process, thread);
  const bool sleeps = state == 'S' || state == 'D';
  if (!sleeps && (state != 'R' || now - since_ < kRunPatience)) return;
  nudge(process, thread, sleeps);
  nudged_ = now;
}

}  // namespace simrt::testing
