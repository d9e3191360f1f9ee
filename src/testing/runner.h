// Runs one test in a process of its own and says what became of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/test.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::testing {

struct RunOptions {
  std::string trace_directory;            ///< where traces go; it must exist; empty: no traces are asked for
  double default_timeout_seconds = 1500;  ///< for tests without one of their own (CTest's default)
  double grace_seconds = 2;               ///< between SIGTERM and SIGKILL at the timeout
  std::size_t output_limit = 1 << 20;     ///< bytes of output kept: its tail
  std::map<std::string, std::string> environment;  ///< for every test, over its own
  bool run_disabled = false;
};

struct RunResult {
  TestId test;
  Outcome outcome = Outcome::NotRun;
  int exit_code = 0;                 ///< exit status, or -signal
  double seconds = 0;                ///< wall time of the test's own process
  std::uint64_t peak_rss_bytes = 0;  ///< of the test and the children it waited for
  std::string output;                ///< stdout and stderr as they came, the tail
  std::uint64_t output_dropped = 0;  ///< bytes before it
  std::vector<std::string> traces;   ///< files that appeared, the test's own process first
  std::vector<std::string> notes;    ///< "forked 3 children", "left a daemon behind (sleep)"
  bool interrupted = false;          ///< stopped by the token: must not be recorded as a run
};

/// Removes older traces of the test, runs its command line with SIMRT_TRACE set, ends everything that it left
/// behind and judges the run. A test that cannot start, is disabled, or lacks a required file is NotRun, with
/// a note. Errors: ErrorCode::Execution when the operating system refuses another process, ErrorCode::Storage
/// when old traces cannot be removed. Thread-safe for different tests.
Result<RunResult> run_test(const TestCase& test, const RunOptions& options,
                           const InterruptToken* interrupt = nullptr);

}  // namespace simrt::testing
