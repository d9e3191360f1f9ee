// Runs a check build under plans: each execution in a fresh child of its fork server where it can, else in a
// fresh process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/interrupt.h"
#include "support/result.h"
#include "testing/processor_claim.h"
#include "testing/run_file.h"
#include "testing/scratch.h"

namespace simrt::testing {

struct CheckOptions {
  std::vector<std::string> command;                ///< argv; the program with a '/' or found in PATH
  std::string directory;                           ///< working directory; empty: the caller's
  std::map<std::string, std::string> environment;  ///< added to the caller's
  std::string run_directory = "/dev/shm";          ///< where the run file goes, and the claims of processors
  std::uint64_t run_bytes = std::uint64_t{256} << 20;
  std::uint64_t plan_bytes = std::uint64_t{32} << 20;  ///< for the plan; memory only where it is used
  double timeout_seconds = 30;                         ///< of one execution
  bool fork_server = true;
  bool pinned = false;  ///< control mode runs on one processor, its own where there is one (ProcessorClaim)
  std::size_t output_limit = 1 << 16;  ///< bytes of output kept: its tail
};

/// How an execution ended.
enum class CheckEnd : std::uint8_t {
  Finished,      ///< by its own will: `status` is the exit status
  Crashed,       ///< by a signal: `status` is its number
  Deadlock,      ///< nobody could go on (Execution::waits)
  Livelock,      ///< everybody only looked at memory that nobody changed
  TimedOut,      ///< killed at the time limit although threads ran
  WaitsOutside,  ///< killed at the time limit while all waited for input or a call outside
  Limit,         ///< of points
  Diverged,      ///< the schedule did not fit (StrictSchedule)
  Stopped,       ///< at the end of the schedule (StopAtSchedule)
  PlanTooLong,   ///< nothing ran: the plan does not fit into the run file
  NotUnderPlan   ///< the program never took the plan up: not a check build, or it could not be started
};

struct CheckResult {
  CheckEnd end = CheckEnd::NotUnderPlan;
  int status = 0;
  double seconds = 0;
  std::string output;  ///< stdout and stderr, the tail
  Execution execution;
  bool interrupted = false;

  /// Crash, deadlock, livelock or an exit status other than 0.
  bool failed() const {
    return end == CheckEnd::Crashed || end == CheckEnd::Deadlock || end == CheckEnd::Livelock ||
           (end == CheckEnd::Finished && status != 0);
  }
};

/// One program with one run file and a directory for its temporary files, empty at the start of every
/// execution. Not thread-safe; use one a thread. The thread that started it must live as long as it does (its
/// end kills the program).
class CheckProgram {
 public:
  /// Errors: ErrorCode::Storage (no run file).
  static Result<CheckProgram> create(CheckOptions options);
  CheckProgram(CheckProgram&& other) noexcept;
  CheckProgram& operator=(CheckProgram&&) = delete;
  ~CheckProgram();

  /// One execution. Errors: ErrorCode::Execution when no process can be made or the plan does not fit,
  /// ErrorCode::Storage when the run file's file system is full.
  Result<CheckResult> run(const CheckPlan& plan, const InterruptToken* interrupt = nullptr);

  /// Of the executions from here on.
  void set_timeout(double seconds) { options_.timeout_seconds = seconds; }

  /// What the last execution left, for whoever keeps it.
  std::span<const std::byte> run_file_bytes() const { return file_.bytes(); }

 private:
  CheckProgram(CheckOptions options, RunFile file, Scratch scratch);
  Status start(const CheckPlan& plan);
  bool serve(const CheckPlan& plan);
  void stop();
  Result<CheckResult> finish(int wait_status, bool killed, double seconds, const InterruptToken* interrupt);
  template <class Done>
  bool watch(Done done, format::RunMode mode, const InterruptToken* interrupt);

  CheckOptions options_;
  RunFile file_;
  ProcessorClaim claim_;
  Scratch scratch_;
  pid_t process_ = 0;  // server or single execution
  bool serving_ = false;
  bool can_serve_ = true;
};

}  // namespace simrt::testing
