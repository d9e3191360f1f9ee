// What watches a test run: our own runtime, or another tool. Whatever it is, it hands back an execution's
// records.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/finding.h"
#include "model/test.h"
#include "pipeline/execution/test_program.h"
#include "support/interrupt.h"
#include "support/result.h"
#include "testing/check_plan.h"
#include "testing/execution.h"

namespace simrt::pipeline {

/// One run of a test: free of any schedule, or a first look under control.
struct WatchedRun {
  testing::Execution execution;  ///< findings, stacks, threads and modules, whoever told them
  bool took_part = true;         ///< false: the tool never came up, nothing is known
  std::string ending;            ///< as Observed::ending; empty: not compared
  bool cut = false;  ///< stopped at the time limit, or not free: what it comes to by itself is not known
};

struct WatchRequest {
  const TestCase* test = nullptr;
  TestProgram* program = nullptr;  ///< the test under our runtime
  testing::CheckPlan plan;         ///< watched sites and limits for it
  double timeout_seconds = 0;
  const InterruptToken* interrupt = nullptr;
};

/// Thread-safe.
class Detector {
 public:
  virtual ~Detector() = default;
  /// Errors: Execution (no process), Storage, Interrupted.
  virtual Result<WatchedRun> watch(const WatchRequest& request) const = 0;
  /// Its program counters are those of the check build: what it finds can be driven into a witness there.
  virtual bool drives_check_build() const { return true; }
  /// Tries schedules beside those that aim at what it found.
  virtual bool explores() const { return false; }
  /// What a race that was seen, but not driven into a witness, counts as: Confirmed when the tool sees
  /// everything that orders two accesses, so that what it reports did happen.
  virtual FindingStatus seen_counts_as(const testing::Execution& seen) const = 0;
  virtual std::string evidence() const = 0;  ///< of a race that was seen
};

/// "builtin", "tsan", "helgrind" or "drd"; `build` is the directory whose tests are run. Errors: Project,
/// when the tool is not installed; Usage for another name.
Result<std::unique_ptr<Detector>> make_detector(const std::string& name, const std::string& build,
                                                const std::string& root);

/// Whether the detector runs the user's own build, which needs no hooks.
bool takes_plain_build(const std::string& detector);

}  // namespace simrt::pipeline
