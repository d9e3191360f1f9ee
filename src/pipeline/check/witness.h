// A schedule that shows a finding: kept as text, followed again, shortened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "pipeline/check/symbols.h"
#include "support/result.h"
#include "testing/check_plan.h"
#include "testing/execution.h"

namespace simrt::pipeline {

/// The plan that takes the same schedule as `execution` did under `plan`.
testing::CheckPlan following(const testing::CheckPlan& plan, const testing::Execution& execution);

/// JSON; the plan of following().
std::string encode_plan(const testing::CheckPlan& plan);
/// Errors: History when the text is damaged.
Result<testing::CheckPlan> decode_plan(const std::string& text);

/// Runs a plan; the execution when it still shows what it has to, nothing when not (or at an interrupt).
using Attempt = std::function<std::optional<testing::Execution>(const testing::CheckPlan&)>;

/// Takes away departures from the default schedule as long as `attempt` still succeeds, at most `tries` runs:
/// larger pieces first (delta debugging: Zeller and Hildebrandt, IEEE TSE 2002), each success goes on from
/// the schedule really taken. Never returns a plan with more context switches.
struct Shortened {
  testing::CheckPlan plan;
  std::uint64_t switches = 0;
};
Shortened shorten(testing::CheckPlan plan, std::uint64_t switches, unsigned tries, const Attempt& attempt);

/// The recorded events as steps for people: synchronisation and shared accesses of the project's own code,
/// around the finding's sides. At most `limit` steps.
std::vector<InterleavingStep> interleaving_of(const testing::Execution& execution, const Finding& finding,
                                              Symbols& symbols, std::size_t limit);

}  // namespace simrt::pipeline
