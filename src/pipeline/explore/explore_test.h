// One test explored: executions chosen by a strategy, learned from, until something ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/check/verify.h"
#include "pipeline/explore/failure_kinds.h"
#include "pipeline/steer/guided_loop.h"

namespace simrt::pipeline {

struct TestExploreOptions {
  std::string strategy = "auto";
  std::uint64_t seed = 1;
  std::uint64_t executions = 0;  ///< budget; 0 = none
  double seconds = 0;            ///< budget; 0 = none
  double timeout_seconds = 20;   ///< of one execution
  bool keep_going = false;       ///< behind a failing execution
  bool saturation = true;        ///< ends a strategy that has no end of its own
  bool describe = true;          ///< failing schedules are shortened and described
  Symbols* symbols = nullptr;
  /// Places of the impacted accesses: files to lines.
  std::map<std::string, std::vector<std::uint32_t>> impacted;
  schedule::PatternCoverage remembered;  ///< covered by earlier explorations, where nothing was touched since
  schedule::HapSets orders;
  std::function<bool()> out_of_time;
  const InterruptToken* interrupt = nullptr;
};

enum class ExploreEnd : std::uint8_t {
  Failure,
  Executions,
  Seconds,
  Saturation,
  Exhausted,
  OneThread,
  NotControlled,
  Interrupted
};

/// "a failing execution", "the budget of executions is used up", ...
const char* to_string(ExploreEnd end);

struct TestExploreResult {
  ExploreEnd end = ExploreEnd::Executions;
  std::uint64_t executions = 0;  ///< of the exploration itself
  std::uint64_t extra = 0;       ///< for shortening, describing and checking failing schedules
  std::uint64_t failed = 0;
  std::uint64_t first_failure = 0;  ///< number of the execution; 0 = none failed
  double seconds = 0, seconds_to_failure = 0;
  std::string first_ending;  ///< how it ended
  std::vector<report::FailureKind> failure_kinds;
  std::vector<report::CoverageStep> growth;
  std::vector<Verified> failures;  ///< one each kind of failure, shortened
  std::uint64_t points = 0;
  std::uint32_t threads = 0;
  SteeringReport steering;
  std::vector<std::string> notes;
  std::optional<report::Nondeterminism> nondeterminism;
  std::unique_ptr<RecordedSites> sites;
  std::unique_ptr<Knowledge> knowledge;
};

/// Errors: Usage (no such strategy), Storage (no run file), Execution (no process). An interrupt is no error.
Result<TestExploreResult> explore_test(const TestCase& test, const TestExploreOptions& options);

}  // namespace simrt::pipeline
