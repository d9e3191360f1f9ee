// Runs one program to its end, and everything that it leaves behind to theirs. Never through a shell.
// Knows nothing of tests: whether exit status 1 is good or bad is the caller's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/interrupt.h"
#include "support/result.h"

namespace simrt {

struct ProcessSpec {
  /// argv, program first. A program without '/' is looked up in the PATH of the resulting environment; a
  /// relative one with '/' is relative to `directory`.
  std::vector<std::string> command;
  std::string directory;                           ///< working directory; empty: the caller's
  std::map<std::string, std::string> environment;  ///< added to, or replacing in, the caller's environment
  std::vector<std::string> unset_environment;      ///< removed from the caller's environment first
  double timeout_seconds = 0;                      ///< 0: none
  double grace_seconds = 2;                        ///< between SIGTERM and SIGKILL
  double linger_seconds = 0.1;         ///< how long descendants may outlive the program unreported
  std::size_t output_limit = 1 << 20;  ///< bytes kept of each stream (its tail)
  bool separate_errors = false;        ///< stderr goes to ProcessResult::errors
};

/// A descendant that still ran after the program had ended (it has been killed by now).
struct LeftBehind {
  int process = 0;
  std::string name;       ///< as in /proc/PID/comm
  bool detached = false;  ///< in a session of its own: a daemon
};

struct ProcessResult {
  enum class End : std::uint8_t {
    Exited,      ///< code = exit status
    Signalled,   ///< code = signal number
    TimedOut,    ///< killed at the timeout; code = status or signal it ended with, as far as known
    NotStarted,  ///< code = errno of the failed step; notes say what failed
    Interrupted  ///< the token asked for a stop
  };
  End end = End::NotStarted;
  int code = 0;
  double seconds = 0;                ///< wall time from start to the program's end, without clean-up
  std::uint64_t peak_rss_bytes = 0;  ///< of the program and the children it waited for; at least about 1 MB
  std::string output;                ///< stdout, and stderr unless separate_errors; the tail of it
  std::string errors;
  std::uint64_t output_dropped = 0;     ///< bytes of both streams that are not in output and errors
  std::vector<LeftBehind> left_behind;  ///< the first 16
  std::uint32_t left_behind_count = 0;
  std::vector<std::string> notes;  ///< one line each, for people

  bool succeeded() const { return end == End::Exited && code == 0; }
};

/// Runs the program with standard input from /dev/null in a session of its own. All its descendants are dead
/// when this returns, daemons included: a small supervisor process adopts them (PR_SET_CHILD_SUBREAPER). The
/// supervisor kills them, too, when the calling process dies, by whatever signal. Core dumps are off.
/// Starting costs the same however large the caller is. Descriptors of the caller are not inherited.
/// Errors (ErrorCode::Execution) only where the operating system refuses pipes or processes or the supervisor
/// is killed; a program that is missing or not executable is End::NotStarted. Thread-safe.
Result<ProcessResult> run_process(const ProcessSpec& spec, const InterruptToken* interrupt = nullptr);

/// The path that `program` resolves to as run_process() would do it; empty when there is none.
std::string find_program(const std::string& program, const std::string& directory, const std::string& path);

/// "segmentation fault (SIGSEGV)" for a signal number.
std::string signal_name(int signal);

}  // namespace simrt
