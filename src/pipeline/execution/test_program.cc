#include "pipeline/execution/test_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <regex>

#include "pipeline/execution/complaint.h"
#include "pipeline/execution/memory_misuse.h"
#include "support/subprocess.h"
#include "testing/framework.h"
#include "testing/one_process.h"
#include "testing/outcome.h"

namespace simrt::pipeline {
namespace {

using testing::CheckEnd;

// Some seconds of nothing but looks: a plan that allows so many points is patient (control/engine.cc).
constexpr std::uint64_t kPatientPoints = 10'000'000, kPatience = 20;

std::string with_complaint(const std::string& end, const std::string& output, Death death) {
  const std::string said = complaint(output, death);
  return said.empty() ? end : end + ": " + said;
}

/// Durations are the only thing in a test framework's output that virtual time does not make equal.
std::string normalised(const std::string& output) {
  static const std::regex kDuration("[0-9.]+ ?(ms|s|us|seconds)\\b");
  return std::regex_replace(output, kDuration, "<time>");
}

}  // namespace

testing::CheckOptions check_options(const TestCase& test, const TestProgramOptions& options) {
  testing::CheckOptions check;
  check.command = testing::command_line(test);
  check.directory = test.directory;
  check.environment = test.environment;
  testing::keep_cases_in_one_process(check.command, check.environment, check.directory);
  check.timeout_seconds = options.timeout_seconds;
  check.pinned = true;
  return check;
}

Observed observe(const TestCase& test, testing::CheckResult result, bool watch_heap) {
  Observed seen;
  seen.output = normalised(result.output);
  switch (result.end) {
    case CheckEnd::Finished: {
      ProcessResult process;
      process.end = ProcessResult::End::Exited;
      process.code = result.status;
      process.output = result.output;
      const testing::Verdict verdict = testing::judge(test, process);
      seen.failed = verdict.outcome == Outcome::Failed || verdict.outcome == Outcome::Crashed;
      seen.ending = seen.failed ? with_complaint(fmt::format("exit status {}", result.status), result.output,
                                                 Death::Exit)
                                : "passed";
      break;
    }
    case CheckEnd::Crashed:
      seen.failed = true;
      seen.ending =
          with_complaint(result.status == SIGABRT ? std::string("abort") : signal_name(result.status),
                         result.output, Death::Signal);
      break;
    case CheckEnd::Deadlock:
      seen.failed = true;
      seen.ending = "nobody can go on";
      break;
    case CheckEnd::Livelock:
      seen.failed = true;
      seen.ending = "livelock: all threads only look at memory that nobody changes";
      break;
    case CheckEnd::TimedOut:
      seen.cut = true;
      seen.ending = "stopped at the time limit";
      break;
    case CheckEnd::WaitsOutside:
      seen.cut = true;
      seen.ending = "waits for input or a call outside";
      break;
    case CheckEnd::Limit:
      seen.cut = true;
      seen.ending = "stopped at the limit of scheduling points";
      break;
    case CheckEnd::Diverged:
      seen.cut = true;
      seen.ending = "does not follow the schedule";
      break;
    case CheckEnd::Stopped:
      seen.cut = true;
      seen.ending = "stopped at the end of the schedule";
      break;
    case CheckEnd::PlanTooLong:
      seen.cut = true;
      seen.ending = "not run: its schedule is too long";
      break;
    case CheckEnd::NotUnderPlan:
      seen.cut = true;
      seen.ending = "not under the plan";
      break;
  }
  if (watch_heap && !seen.failed) {
    if (const auto misuse = find_memory_misuse(result.execution)) {
      seen.failed = true;
      seen.cut = false;
      seen.ending = to_string(*misuse);
    }
  }
  seen.result = std::move(result);
  return seen;
}

Result<TestProgram> TestProgram::create(const TestCase& test, const TestProgramOptions& options) {
  auto program = testing::CheckProgram::create(check_options(test, options));
  if (!program) return fail(program.error());
  return TestProgram(test, std::move(*program), options.watch_heap);
}

Result<testing::CheckResult> TestProgram::execute(const testing::CheckPlan& plan,
                                                  const InterruptToken* interrupt) {
  auto result = program_.run(plan, interrupt);
  if (!result) return fail(result.error());
  ++executions_;
  if (result->interrupted) return fail(ErrorCode::Interrupted, "interrupted");
  return result;
}

Result<Observed> TestProgram::run(const testing::CheckPlan& plan, const InterruptToken* interrupt) {
  auto result = execute(plan, interrupt);
  if (result && result->end == CheckEnd::Livelock && !livelocks_ && plan.max_points < kPatientPoints) {
    testing::CheckPlan patient = plan;
    patient.max_points = std::max(kPatientPoints, kPatience * result->execution.points);
    auto longer = execute(patient, interrupt);
    if (!longer) return fail(longer.error());
    livelocks_ = longer->end == CheckEnd::Livelock;
    if (!livelocks_) result = std::move(longer);
  }
  if (!result) return fail(result.error());
  return observe(test_, std::move(*result), watch_heap_);
}

}  // namespace simrt::pipeline
