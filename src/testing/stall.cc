#include "testing/stall.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

// The thread is in a futex call without a time limit. False when it cannot be told.
bool waits_for_ever(const std::filesystem::path& task) {
  std::ifstream in(task / "syscall");
  long number = 0;
  in >> number;
  if (!in || number != SYS_futex) return false;
  unsigned long arguments[4] = {};
  in >> std::hex;
  for (unsigned long& argument : arguments) {
    std::string word;
    if (!(in >> word)) return false;
    argument = std::strtoul(word.c_str(), nullptr, 16);
  }
  return arguments[3] == 0;
}

}  // namespace

bool FreeRunWatch::is_stuck() {
  constexpr milliseconds kBetweenLooks{50};
  constexpr unsigned kLooks = 6;
  const auto now = steady_clock::now();
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  if (header_.state != format::RunState::Running || header_.threads < 2) return false;
  std::error_code error;
  bool all = true, any = false;
  const std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", header_.pid), error);
  if (error) return false;
  for (const auto& task : tasks) {
    any = true;
    all = all && waits_for_ever(task.path());
  }
  stuck_looks_ = any && all ? stuck_looks_ + 1 : 0;
  return stuck_looks_ >= kLooks;
}

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
