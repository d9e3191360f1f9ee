// A schedule that shows a finding: kept as text, followed again, shortened.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "model/test.h"
#include "pipeline/execution/symbols.h"
#include "support/result.h"
#include "testing/check_plan.h"
#include "testing/execution.h"

namespace simrt::pipeline {

/// The plan that takes the same schedule as `execution` did under `plan`.
testing::CheckPlan following(const testing::CheckPlan& plan, const testing::Execution& execution);

/// JSON; the plan of following(). `program`: how the program is started, for one that is no test of a build.
std::string encode_plan(const testing::CheckPlan& plan, const TestCase* program = nullptr);
/// The program that was encoded with the plan, if there is one.
std::optional<TestCase> decode_program(const std::string& text);
/// Errors: History when the text is damaged.
Result<testing::CheckPlan> decode_plan(const std::string& text);

/// Runs a plan; the execution when it still shows what it has to, nothing when not (or at an interrupt).
using Attempt = std::function<std::optional<testing::Execution>(const testing::CheckPlan&)>;

/// The schedule with the fewest context switches for which `attempt` still succeeds, of at most `tries` runs
/// (schedule/minimise.h). `plan` follows a schedule. Nothing when following it does not succeed, or when the
/// execution is too long to be recorded.
struct Shortened {
  testing::CheckPlan plan;
  std::uint64_t switches = 0;
};
std::optional<Shortened> shorten(const testing::CheckPlan& plan, unsigned tries, const Attempt& attempt);

/// The recorded events as steps for people: synchronisation and shared accesses of the project's own code,
/// around the finding's sides, of which the last two of different threads are there where they were recorded
/// (what lies between them is left out where it is long). At most `limit` steps.
std::vector<InterleavingStep> interleaving_of(const testing::Execution& execution, const Finding& finding,
                                              Symbols& symbols, std::size_t limit);

}  // namespace simrt::pipeline
