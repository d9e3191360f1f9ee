// What run_process() and the process between it and the program say to each other. That process starts the
// program, adopts all its descendants (PR_SET_CHILD_SUBREAPER) and ends them.
#pragma once

#include <array>
#include <cstdint>

namespace simrt::supervisor {

/// Positions of the supervisor's arguments: inherited descriptors, milliseconds that descendants may outlive
/// the program, working directory (empty: stay), path of the program; then its argv. Its environment is the
/// program's.
enum Argument : int {
  kName,
  kOutput,
  kErrors,
  kControl,
  kReport,
  kLinger,
  kDirectory,
  kProgram,
  kFirstProgramArgument
};

/// Commands, one byte each, on the control pipe. Its end (the caller is gone) kills everything.
inline constexpr char kTerminate = 'T';  ///< SIGTERM to the program's process group
inline constexpr char kKill = 'K';       ///< SIGKILL to everything

/// Where a program could not be started.
enum class Step : std::int32_t { None, Fork, Directory, Descriptors, Execute };

struct Leftover {
  std::int32_t process = 0;
  std::int32_t detached = 0;
  std::array<char, 24> name{};
};

/// Sent twice on the report pipe: when the program has ended, and (final = 1) when nothing is left of it.
struct Report {
  std::int32_t final = 0;
  std::int32_t wait_status = 0;
  Step failed_step = Step::None;
  std::int32_t failed_errno = 0;
  std::int64_t peak_rss_kilobytes = 0;
  std::uint32_t leftover_count = 0;
  std::array<Leftover, 16> leftovers{};
};

/// A descriptor of the supervisor's executable, which is part of this library, for "/proc/self/fd/N". Made on
/// the first call; -1 with errno when the system forbids it (vm.memfd_noexec = 2). Thread-safe.
int image();

}  // namespace simrt::supervisor
