// Schedules that are tried of a test, blindly and guided, and what goes wrong under them.
#include <fmt/format.h>

#include "pipeline/check/portfolio.h"
#include "pipeline/check/test_check.h"
#include "pipeline/steer/guided_loop.h"

namespace simrt::pipeline {
namespace {

using testing::CheckPlan;

constexpr unsigned kObservedSchedules = 6;  // of the portfolio, those that the detectors watch
constexpr unsigned kMostCut = 25, kMostDeadlocks = 8;
// Guided executions are recorded event by event: only of tests with so few scheduling points, and so many of
// the other schedules' number.
constexpr std::uint64_t kMostPointsGuided = 20'000;
constexpr unsigned kPartsGuided = 2;

}  // namespace

Status TestCheck::try_schedules() {
  unsigned cut = 0;
  for (unsigned number = 0; number < options_.schedules && !stop(); ++number) {
    CheckPlan plan = portfolio_plan(base_, seed(), points_, number);
    const bool watched = number < kObservedSchedules;
    if (watched) plan.detectors = kCheckDetectors;
    const auto seen = execute(plan);
    if (!seen) return fail(seen.error());
    cut = seen->cut ? cut + 1 : 0;
    if (cut == kMostCut) {
      note(fmt::format("{} schedules in a row said nothing ({}): no more are tried", cut, seen->ending));
      break;
    }
    if (watched) gather(seen->result.execution, plan, plan);
    if (Status done = look_into(plan, *seen, watched); !done) return done;
    if (number + 1 == kObservedSchedules) {
      if (Status done = verify_candidates(); !done) return done;
    }
  }
  if (Status done = try_guided(); !done) return done;
  explored_ = true;
  return verify_candidates();
}

/// Where chance has shown nothing: executions that aim at memory-access patterns and orders which no
/// execution has covered, those of impacted accesses first (MAP, ASE 2019; the portfolio of `simrt explore`).
Status TestCheck::try_guided() {
  // A known bug met again explains what goes wrong; it would only be told anew, in other words.
  const bool shown = !result_.confirmed.empty() || !result_.seen_again.empty();
  if (shown || points_ > kMostPointsGuided || endless_) return {};
  GuidedOptions guided;
  guided.seed = seed();
  guided.executions = options_.schedules / kPartsGuided;
  guided.impacted = options_.scope->places();
  guided.short_sleep_ns = 0;  // as in all schedules of a check
  auto loop =
      GuidedLoop::create([this](const CheckPlan& plan) { return execute(plan); }, *options_.symbols, guided);
  if (!loop) return fail(loop.error());
  while ((*loop)->executions() < guided.executions && result_.confirmed.empty() && !stop()) {
    auto step = (*loop)->next();
    if (!step) return fail(step.error());
    if (!*step) break;
    CheckPlan lenient = (*step)->plan;
    lenient.flags &= ~std::uint32_t{format::kPlanStrictSchedule};
    if (Status done = look_into(lenient, (*step)->seen, false); !done) return done;
  }
  return {};
}

/// What went wrong under a schedule may be a race: it is looked for before the failure is told as one.
Status TestCheck::look_into(const CheckPlan& plan, const Observed& seen, bool watched) {
  const bool deadlock = seen.result.end == testing::CheckEnd::Deadlock;
  if (!seen.failed || (deadlock && ++deadlocks_ > kMostDeadlocks)) return {};
  if (!watched && !explained_.contains(seen.ending)) {
    CheckPlan again = following(plan, seen.result.execution);
    again.detectors = kCheckDetectors;
    const auto looked_at = execute(again);
    if (!looked_at) return fail(looked_at.error());
    gather(looked_at->result.execution, again, plan);
    if (Status done = verify_candidates(); !done) return done;
  }
  if (Status done = failure(plan, seen); !done) return done;
  return verify_candidates();
}

}  // namespace simrt::pipeline
