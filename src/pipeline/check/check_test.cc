#include "pipeline/check/check_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "pipeline/check/test_check.h"
#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

using testing::CheckPlan;

constexpr double kLeastTimeout = 1;  // of one execution, however little is left

}  // namespace

/// No execution lasts longer than what is left of the budget.
Result<Observed> TestCheck::execute(const CheckPlan& plan) {
  program_.set_timeout(std::clamp(options_.seconds_left(), kLeastTimeout, timeout_));
  return program_.run(plan, options_.interrupt);
}

/// One of so many equal parts of what is left of the budget.
TimeLeft TestCheck::share(double parts) const {
  const double left = options_.seconds_left(), part = left / parts;
  if (std::isinf(left)) return {};
  if (left <= 0) return [] { return 0.0; };
  return [this, part, end = left - part] { return (options_.seconds_left() - end) / part; };
}

Status TestCheck::run() {
  if (Status done = watch_free_run(); !done) return done;
  if (!why_all_.empty() && result_.took_part) note(fmt::format("every access is watched: {}", why_all_));
  if (controlled_) {
    if (options_.watched_before != nullptr)
      if (Status done = verify_seen(); !done) return done;
    if (Status done = watch_default_run(); !done) return done;
    gather_free_run();
    if (Status done = look_for_lost_wakeups(); !done) return done;
  } else {
    gather_free_run();
  }
  const bool explores = threads_ > 1 && options_.detector->explores();
  explored_ = !explores;
  if (Status done = verify_candidates(); !done || !controlled_) return done;
  return explores ? try_schedules() : Status();
}

CheckPlan watching_plan(const TestCase& test, const TestCheckOptions& options, std::string* why_all) {
  const std::string program = find_program(test.command.at(0), test.directory, {});
  auto watched =
      options.scope->watched(program.empty() ? test.command[0] : program, options.build, options.root);
  if (why_all != nullptr) *why_all = std::move(watched.why_all);
  CheckPlan plan;
  plan.modules = std::move(watched.modules);
  plan.watched = std::move(watched.sites);
  if (watched.libraries) plan.flags |= format::kPlanWatchLibraries;
  return plan;
}

Result<TestCheckResult> check_test(const TestCase& test, const TestCheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  auto program = TestProgram::create(test, {options.timeout_seconds, false});
  if (!program) return fail(program.error());
  TestCheck check(test, options, *program);
  const Status done = check.run();
  if (!done && done.error().code != ErrorCode::Interrupted) return fail(done.error());
  TestCheckResult result = check.take();
  if (result.weak > 0)
    result.notes.push_back(
        fmt::format("{} weak hints (accesses that may belong together, memory handed over under a lock) were "
                    "followed up; no "
                    "execution confirmed them",
                    result.weak));
  const std::string stopped_by =
      options.interrupt && options.interrupt->requested() ? "interrupted" : "the budget was used up";
  if (result.unfinished > 0)
    result.notes.push_back(
        fmt::format("{} potential findings were not verified to the end: {}", result.unfinished, stopped_by));
  result.executions = program->executions();
  if (!done) result.complete = false;
  if (!result.complete && result.took_part)
    result.notes.push_back(fmt::format("not to its end: {}; {} executions", stopped_by, result.executions));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace simrt::pipeline
