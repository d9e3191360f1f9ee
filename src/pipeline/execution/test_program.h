// One test of the check build under plans: runs it, says how it ended, and counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/test.h"
#include "support/interrupt.h"
#include "support/result.h"
#include "testing/check_program.h"

namespace simrt::pipeline {

/// An execution with its end in words that are equal for equal ends.
struct Observed {
  testing::CheckResult result;
  bool failed = false;  ///< crash, failure (as the test's own rules say), deadlock or livelock
  bool cut = false;     ///< ended by a limit, or not under the plan: says nothing
  std::string ending;   ///< "passed", "exit status 3", "abort: Assertion `x' failed", "deadlock", ...
  std::string output;   ///< without what differs from run to run (durations)
};

/// Runs the test once under a plan. Errors: Execution, Interrupted.
using Execute = std::function<Result<Observed>(const testing::CheckPlan&)>;

struct TestProgramOptions {
  double timeout_seconds = 20;  ///< of one execution
  bool watch_heap = false;      ///< executions recorded with events fail where they misuse the heap
};

/// Not thread-safe; lives and dies on one thread.
class TestProgram {
 public:
  /// Errors: Storage (no run file).
  static Result<TestProgram> create(const TestCase& test, const TestProgramOptions& options);

  /// Errors: Execution. Loops that look a number of times and then go on are no livelock: before the first
  /// one is believed, it is given far more time.
  Result<Observed> run(const testing::CheckPlan& plan, const InterruptToken* interrupt = nullptr);
  std::uint64_t executions() const { return executions_; }
  /// Of one execution, from here on.
  void set_timeout(double seconds) { program_.set_timeout(seconds); }

 private:
  TestProgram(const TestCase& test, testing::CheckProgram program, bool watch_heap)
      : test_(test), program_(std::move(program)), watch_heap_(watch_heap) {}
  Result<testing::CheckResult> execute(const testing::CheckPlan& plan, const InterruptToken* interrupt);

  TestCase test_;
  testing::CheckProgram program_;
  bool watch_heap_;
  std::uint64_t executions_ = 0;
  bool livelocks_ = false;  // one has been seen to last
};

testing::CheckOptions check_options(const TestCase& test, const TestProgramOptions& options);

/// How the execution of the test ended. `watch_heap`: one that was recorded with events also fails where it
/// misused the heap (memory_misuse.h) without crashing over it.
Observed observe(const TestCase& test, testing::CheckResult result, bool watch_heap = false);

}  // namespace simrt::pipeline
