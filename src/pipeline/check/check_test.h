// Everything a check does with one test: watch it run, verify what that hints at, and try schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/check/detector.h"
#include "pipeline/check/scope.h"
#include "pipeline/check/verify.h"

namespace simrt::pipeline {

struct TestCheckOptions {
  std::uint64_t seed = 1;
  unsigned tries = 12;
  unsigned schedules = 200;     ///< executions of the portfolio
  double timeout_seconds = 20;  ///< of one execution
  std::string build, root;
  const Detector* detector = nullptr;
  const Scope* scope = nullptr;
  Symbols* symbols = nullptr;
  /// Confirmed by an earlier test (or suppressed): not verified again.
  std::function<bool(std::uint64_t fingerprint)> settled;
  std::function<double()> seconds_left;  ///< of the test's budget; infinity: there is none
  const InterruptToken* interrupt = nullptr;
  WatchedRun* watched_before = nullptr;  ///< its free run, when there was one; taken
};

/// The sites of the test's program and libraries that the scope is about; none where everything is watched,
/// with the reason.
testing::CheckPlan watching_plan(const TestCase& test, const TestCheckOptions& options,
                                 std::string* why_all = nullptr);

struct TestCheckResult {
  std::vector<Verified> confirmed;
  std::vector<Candidate> seen;        ///< confirmed by the detector's own word; without a witness
  std::vector<Candidate> potential;   ///< not witnessed within the bounds
  std::uint64_t unfinished = 0;       ///< candidates whose verification the budget ended
  std::uint64_t weak = 0;             ///< weak hints that no execution confirmed: not listed
  std::vector<Candidate> seen_again;  ///< settled ones that this test hinted at, too
  std::uint64_t outside = 0;          ///< candidates that the diff has nothing to do with
  std::uint64_t executions = 0;
  double seconds = 0;
  std::vector<std::string> notes;
  bool took_part = true;  ///< false: its program was not started, or is no check build
  bool complete = true;   ///< false: stopped by the budget or an interrupt, or it could not be run
};

/// Errors: Storage (no run file), Execution (no process). An interrupt is no error: what was found stays.
Result<TestCheckResult> check_test(const TestCase& test, const TestCheckOptions& options);

}  // namespace simrt::pipeline
