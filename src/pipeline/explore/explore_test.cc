#include "pipeline/explore/explore_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "pipeline/check/describe.h"
#include "pipeline/execution/inputs.h"
#include "pipeline/explore/nondeterminism.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using Clock = std::chrono::steady_clock;
using testing::CheckPlan;

constexpr std::size_t kMostFailures = 8;  // kinds of failures that are shortened and described

constexpr double kLeastTimeout = 1;  // of one execution, however little is left

/// 1, 2, 5, 10, 20, 50, 100, ...
bool is_round(std::uint64_t number) {
  while (number % 10 == 0 && number > 0) number /= 10;
  return number == 1 || number == 2 || number == 5;
}

class TestExploration {
 public:
  TestExploration(const TestCase& test, const TestExploreOptions& options, TestProgram& program)
      : test_(test), options_(options), program_(program) {}

  Status run();
  TestExploreResult take() { return std::move(result_); }

 private:
  Result<Observed> execute(const CheckPlan& plan) { return program_.run(plan, options_.interrupt); }
  Result<Observed> explore(const CheckPlan& plan);
  Status prepare();
  Status loop();
  bool stop();
  void take_in(GuidedStep step);
  void note_growth();
  Status failure(const CheckPlan& plan, const Observed& seen);
  Status explain_failures();
  Status check_determinism();
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void note(const std::string& text) {
    if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
      result_.notes.push_back(text);
  }

  const TestCase& test_;
  const TestExploreOptions& options_;
  TestProgram& program_;
  std::unique_ptr<GuidedLoop> loop_;
  TestExploreResult result_;
  Clock::time_point start_ = Clock::now();
  FailureKinds kinds_;
  std::map<std::size_t, GuidedStep> failing_;  // by kind
  std::optional<GuidedStep> last_;             // any execution, for the check of determinism
  bool passed_ = false;                        // some execution did
  std::uint64_t cut_ = 0;                      // executions that say nothing
  std::string cut_ending_;                     // of the last one
};

/// No execution lasts longer than what is left of the time.
Result<Observed> TestExploration::explore(const CheckPlan& plan) {
  if (options_.seconds > 0)
    program_.set_timeout(std::clamp(options_.seconds - seconds(),
                                    std::min(kLeastTimeout, options_.timeout_seconds),
                                    options_.timeout_seconds));
  return execute(plan);
}

Status TestExploration::prepare() {
  GuidedOptions options;
  options.strategy = options_.strategy;
  options.seed = hash_combine(options_.seed, test_.id.value);
  options.executions = options_.executions;
  options.impacted = options_.impacted;
  auto loop = GuidedLoop::create([this](const CheckPlan& plan) { return explore(plan); }, *options_.symbols,
                                 std::move(options));
  if (!loop) return fail(loop.error());
  loop_ = std::move(*loop);
  loop_->knowledge().remember(options_.remembered, options_.orders);
  return {};
}

/// Whether the exploration is to end before its next execution.
bool TestExploration::stop() {
  const auto end = [&](ExploreEnd why) {
    result_.end = why;
    return true;
  };
  if (options_.interrupt && options_.interrupt->requested()) return end(ExploreEnd::Interrupted);
  if (result_.failed > 0 && !options_.keep_going) return end(ExploreEnd::Failure);
  if (options_.executions != 0 && result_.executions >= options_.executions)
    return end(ExploreEnd::Executions);
  if (options_.seconds > 0 && seconds() >= options_.seconds) return end(ExploreEnd::Seconds);
  if (options_.out_of_time && options_.out_of_time()) return end(ExploreEnd::Seconds);
  if (options_.saturation && loop_->steering().stops_at_saturation() &&
      loop_->knowledge().saturation().reached())
    return end(ExploreEnd::Saturation);
  return false;
}

void TestExploration::take_in(GuidedStep step) {
  const Observed& seen = step.seen;
  ++result_.executions;
  result_.points = std::max(result_.points, seen.result.execution.points);
  result_.threads = std::max(result_.threads, seen.result.execution.thread_count);
  for (const std::string& text : seen.result.execution.notes) note(text);
  passed_ = passed_ || (!seen.failed && !seen.cut);
  if (seen.cut) {
    ++cut_;
    cut_ending_ = seen.ending;
  }
  if (seen.failed) {
    ++result_.failed;
    if (result_.first_failure == 0) {
      result_.first_failure = result_.executions;
      result_.seconds_to_failure = seconds();
      result_.first_ending = seen.ending;
    }
    const auto [kind, fresh] = kinds_.add(seen, *options_.symbols, result_.executions);
    if (fresh && failing_.size() < kMostFailures) failing_.emplace(kind, std::move(step));
  } else if (!last_ || !seen.cut) {
    last_ = std::move(step);
  }
}

void TestExploration::note_growth() {
  const Knowledge& knowledge = loop_->knowledge();
  result_.growth.push_back({result_.executions, knowledge.covered().size(),
                            knowledge.method_pairs().pairs().size(), knowledge.orders().size(),
                            kinds_.all().size()});
}

Status TestExploration::loop() {
  while (!stop()) {
    auto step = loop_->next();
    if (!step) return fail(step.error());
    if (!*step) {
      result_.end = ExploreEnd::Exhausted;
      return {};
    }
    if ((*step)->seen.result.end == testing::CheckEnd::NotUnderPlan) {
      result_.end = ExploreEnd::NotControlled;
      note("its program is no check build (-DSIMRT_BUILD=check) or could not be started");
      return {};
    }
    take_in(std::move(**step));
    if (is_round(result_.executions)) note_growth();
    if (result_.executions == 1 && result_.threads < 2 && result_.failed == 0) {
      result_.end = ExploreEnd::OneThread;
      return {};
    }
  }
  return {};
}

Status TestExploration::failure(const CheckPlan& plan, const Observed& seen) {
  VerifyOptions options;
  options.seed = options_.seed;
  Verifier verifier([this](const CheckPlan& wanted) { return execute(wanted); }, *options_.symbols, options);
  CheckPlan lenient = plan;
  lenient.flags &= ~std::uint32_t{format::kPlanStrictSchedule};
  if (!passed_) verifier.set_no_other();
  auto verified = verifier.explain(lenient, seen);
  if (!verified) return fail(verified.error());
  if (!*verified) {
    note(fmt::format("an execution ended with: {}; it did not come back under the same schedule{}",
                     seen.ending, read_clause({&seen.result.execution}, {SIZE_MAX, true}, options_.symbols)));
    return {};
  }
  for (const Verified& known : result_.failures)
    if (known.fingerprint == (*verified)->fingerprint) return {};
  result_.failures.push_back(std::move(**verified));
  return {};
}

Status TestExploration::explain_failures() {
  for (const auto& [kind, failing] : failing_)
    if (Status done = failure(failing.plan, failing.seen); !done) return done;
  return {};
}

/// The same schedule once more: what differs then is not under the engine's control.
Status TestExploration::check_determinism() {
  const GuidedStep* one = last_ ? &*last_ : failing_.empty() ? nullptr : &failing_.begin()->second;
  if (one == nullptr || one->seen.cut) return {};
  const testing::Execution& before = one->seen.result.execution;
  auto again = execute(following(one->plan, before));
  if (!again) return fail(again.error());
  auto found = difference(one->seen, *again, *options_.symbols);
  if (found) note(to_string(*found));
  result_.nondeterminism = std::move(found);
  return {};
}

Status TestExploration::run() {
  if (Status done = prepare(); !done) return done;
  Status done = loop();
  result_.seconds = seconds();
  if (result_.executions > 0 && !is_round(result_.executions)) note_growth();
  result_.failure_kinds = kinds_.all();
  result_.steering = loop_->steering().report();
  result_.sites = loop_->take_sites();
  result_.knowledge = loop_->take_knowledge();
  const std::uint64_t explored = program_.executions();
  if (cut_ > 0)
    note(fmt::format("{} of {} executions say nothing: {}", cut_, result_.executions, cut_ending_));
  if (result_.failed > 1 && !passed_) note("no execution has passed: it may fail whatever the schedule");
  program_.set_timeout(options_.timeout_seconds);
  if (done && options_.describe) done = explain_failures();
  if (done && options_.describe && result_.executions > 0 && result_.end != ExploreEnd::NotControlled)
    done = check_determinism();
  result_.extra = program_.executions() - explored;
  return done;
}

}  // namespace

const char* to_string(ExploreEnd end) {
  switch (end) {
    case ExploreEnd::Failure:
      return "a failing execution";
    case ExploreEnd::Executions:
      return "the budget of executions is used up";
    case ExploreEnd::Seconds:
      return "the time is over";
    case ExploreEnd::Saturation:
      return "saturation: another execution would hardly cover anything new";
    case ExploreEnd::Exhausted:
      return "nothing is left to try";
    case ExploreEnd::OneThread:
      return "only one thread ran";
    case ExploreEnd::NotControlled:
      return "the program could not be controlled";
    case ExploreEnd::Interrupted:
      return "interrupted";
  }
  return "";
}

Result<TestExploreResult> explore_test(const TestCase& test, const TestExploreOptions& options) {
  auto program = TestProgram::create(test, {options.timeout_seconds, true});
  if (!program) return fail(program.error());
  TestExploration exploration(test, options, *program);
  const Status done = exploration.run();
  if (!done && done.error().code != ErrorCode::Interrupted) return fail(done.error());
  TestExploreResult result = exploration.take();
  if (!done) result.end = ExploreEnd::Interrupted;
  return result;
}

}  // namespace simrt::pipeline
