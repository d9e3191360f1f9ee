// The process between the caller of run_process() and the program: starts it, adopts all its descendants and
// ends them. Runs in a forked child of a multi-threaded process: async-signal-safe calls only, no allocation.
#pragma once

#include <array>
#include <cstdint>

namespace simrt::supervisor {

/// Commands, one byte each, from the caller. End of file (the caller is gone) kills everything.
inline constexpr char kTerminate = 'T';  ///< SIGTERM to the program's process group
inline constexpr char kKill = 'K';       ///< SIGKILL to everything

/// Where a program could not be started.
enum class Step : std::int32_t { None, Fork, Directory, Descriptors, Execute };

struct Leftover {
  std::int32_t process = 0;
  std::int32_t detached = 0;
  std::array<char, 24> name{};
};

/// Sent twice: when the program has ended, and (final = 1) when nothing is left of it.
struct Report {
  std::int32_t final = 0;
  std::int32_t wait_status = 0;
  Step failed_step = Step::None;
  std::int32_t failed_errno = 0;
  std::int64_t peak_rss_kilobytes = 0;
  std::uint32_t leftover_count = 0;
  std::array<Leftover, 16> leftovers{};
};

/// Everything that was prepared before the fork. Descriptors are the caller's; -1 = /dev/null.
struct Job {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;  ///< null: stay
  int output = -1;
  int errors = -1;
  int control = -1;  ///< commands are read from here
  int report = -1;   ///< reports are written here
  int linger_milliseconds = 100;
};

/// Body of the supervisor process. All signals must be blocked. Never returns.
[[noreturn]] void run(const Job& job);

}  // namespace simrt::supervisor
