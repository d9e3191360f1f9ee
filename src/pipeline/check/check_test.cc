#include "pipeline/check/check_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/check/candidate_order.h"
#include "pipeline/check/lost_wakeup.h"
#include "pipeline/check/portfolio.h"
#include "pipeline/steer/guided_loop.h"
#include "support/hash.h"
#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

using format::RunMode;
using testing::CheckPlan;

constexpr std::uint32_t kDetectors = format::kDetectRaces | format::kDetectPotentialRaces |
                                     format::kDetectLockCycles | format::kDetectAtomicity;
constexpr unsigned kObservedSchedules = 6;  // of the portfolio, those that the detectors watch
// An execution that passes so many more scheduling points than the default one goes round in circles.
constexpr std::uint64_t kPointsBeside = 50'000, kPointsTimes = 20;
// A test that fails by itself fails under so many schedules.
constexpr unsigned kOwnFailureTries = 12;
constexpr unsigned kMostCut = 25, kMostDeadlocks = 8;
// Guided executions are recorded event by event: only of tests with so few scheduling points, and so many of
// the other schedules' number.
constexpr std::uint64_t kMostPointsGuided = 20'000;
constexpr unsigned kPartsGuided = 2;
constexpr double kLeastSeconds = 10, kTimesSeconds = 20;  // the same for code without points
constexpr double kExecutionsExpected = 8;                 // when a race takes fewer, it is slow
constexpr double kLeastTimeout = 1;                       // of one execution, however little is left
// Of what is left of the budget, one in so many parts explains one failure.
constexpr double kPartsExplained = 4;
// More races than a few are aimed at together first, in one of so many parts of what is left.
constexpr std::size_t kFewRaces = 4, kMostSurveyed = 512;
constexpr double kPartsSurveyed = 3;
// Races that a first look saw or hinted at: so many are followed at once, for so long an execution; so many
// parts of what is left are for each of them.
constexpr std::size_t kMostSeen = 6;
constexpr double kSecondsSeen = 3, kPartsSeen = 1.5;

class TestCheck {
 public:
  TestCheck(const TestCase& test, const TestCheckOptions& options, TestProgram& program)
      : test_(test),
        options_(options),
        program_(program),
        timeout_(options.timeout_seconds),
        verifier_([this](const CheckPlan& plan) { return execute(plan); }, *options.symbols,
                  verify_options(options, base_)) {}

  Status run();
  TestCheckResult take() { return std::move(result_); }

 private:
  VerifyOptions verify_options(const TestCheckOptions& options, CheckPlan& base) {
    base = watching_plan(test_, options, &why_all_);
    VerifyOptions verify;
    verify.seed = hash_combine(options.seed, test_.id.value);
    verify.tries = options.tries;
    verify.base = base;
    return verify;
  }

  bool interrupted() const { return options_.interrupt && options_.interrupt->requested(); }
  bool stop() {
    if (options_.seconds_left() > 0 && !interrupted()) return false;
    result_.complete = false;
    return true;
  }
  Result<Observed> execute(const CheckPlan& plan);
  TimeLeft share(double parts) const;
  Status watch_free_run();
  void gather_free_run();
  Status verify_seen();
  Status watch_default_run();
  Status failing_by_default(const CheckPlan& plan, const Observed& seen);
  Status look_for_lost_wakeups();
  Status survey();
  void leave_unproven(Candidate candidate);
  void leave_unfinished(Candidate& candidate);
  void accept(const Candidate& candidate, Verified verified);
  Status verify_candidates();
  Status try_schedules();
  Status try_guided();
  Status failure(const CheckPlan& plan, const Observed& seen);
  /// `chosen_by`: the plan with the strategy that took the schedule which `plan` may only follow.
  void gather(const testing::Execution& execution, const CheckPlan& plan, const CheckPlan& chosen_by);
  Status look_into(const CheckPlan& plan, const Observed& seen, bool watched);
  std::uint64_t seed() const { return hash_combine(options_.seed, test_.id.value); }
  void note(const std::string& text) {
    if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
      result_.notes.push_back(text);
  }

  const TestCase& test_;
  const TestCheckOptions& options_;
  TestProgram& program_;
  double timeout_;  // of one execution
  CheckPlan base_;
  std::string why_all_;  // everything is watched
  Verifier verifier_;
  TestCheckResult result_;
  std::vector<Candidate> candidates_;  // not verified yet
  std::set<std::uint64_t> known_;      // fingerprints met in this test
  std::set<std::string> explained_;    // endings that a confirmed finding accounts for
  std::optional<testing::Execution> free_run_;
  std::string free_ending_, default_ending_;
  bool free_was_cut_ = false;
  bool controlled_ = true;
  bool explored_ = false;                                    // no schedules are to be tried any more
  FindingStatus seen_counts_as_ = FindingStatus::Potential;  // races of the free run
  std::uint32_t threads_ = 0;
  std::uint64_t points_ = 0;  // of the default execution
  double seconds_ = 0;
  unsigned deadlocks_ = 0;
  bool endless_ = false;  // it was cut at a limit
};

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

void TestCheck::gather(const testing::Execution& execution, const CheckPlan& plan,
                       const CheckPlan& chosen_by) {
  const bool controlled = plan.mode == RunMode::Control;
  for (Candidate& candidate : candidates_of(execution, *options_.symbols)) {
    if (candidate.witnessed && controlled) candidate.shown_by = following(plan, execution);
    if (controlled) candidate.walk = {chosen_by.strategy, chosen_by.seed, chosen_by.length, chosen_by.depth};
    if (!known_.insert(candidate.fingerprint).second) {
      for (Candidate& waiting : candidates_) {
        if (waiting.fingerprint == candidate.fingerprint && !waiting.walk) waiting.walk = candidate.walk;
        if (waiting.fingerprint != candidate.fingerprint || waiting.shown_by || !candidate.shown_by) continue;
        candidate.finding.cause = std::move(waiting.finding.cause);
        waiting = std::move(candidate);
        break;
      }
      continue;
    }
    if (options_.settled(candidate.fingerprint)) {
      result_.seen_again.push_back(std::move(candidate));
    } else if (!options_.scope->covers(candidate.finding)) {
      ++result_.outside;
    } else {
      candidate.finding.cause = options_.scope->cause(candidate.finding);
      candidates_.push_back(std::move(candidate));
    }
  }
  for (const std::string& text : execution.notes) note(text);
}

Status TestCheck::watch_free_run() {
  auto seen = options_.watched_before != nullptr
                  ? Result<WatchedRun>(std::move(*options_.watched_before))
                  : options_.detector->watch(
                        {&test_, &program_, base_, options_.timeout_seconds, options_.interrupt});
  if (!seen) return fail(seen.error());
  if (!seen->took_part) {
    controlled_ = false;
    result_.complete = false;
    note(options_.detector->drives_check_build()
             ? "its program is no check build (-DSIMRT_BUILD=check) or could not be started: nothing was "
               "checked"
             : "its program could not be started under the tool: nothing was checked");
    for (const std::string& text : seen->execution.notes) note(text);
    return {};
  }
  free_ending_ = seen->ending;
  free_was_cut_ = seen->cut && options_.watched_before != nullptr;  // the first look is a short one
  seen_counts_as_ = seen->execution.races.empty() ? FindingStatus::Potential
                                                  : options_.detector->seen_counts_as(seen->execution);
  free_run_ = std::move(seen->execution);
  controlled_ = options_.detector->drives_check_build();
  return {};
}

/// What the free run hinted at depends on the machine's mood. It is of use where no controlled execution
/// watched all of the test: another detector does not explore, some tests cannot be controlled, or not to
/// their end.
void TestCheck::gather_free_run() {
  const bool watched_well = options_.detector->explores() && controlled_ && !endless_;
  if (!free_run_ || watched_well) return;
  CheckPlan plan = base_;
  plan.mode = RunMode::Detect;
  gather(*free_run_, plan, plan);
  if (const std::string evidence = options_.detector->evidence(); !evidence.empty())
    for (Candidate& candidate : candidates_)
      if (candidate.finding.kind == FindingKind::Race) candidate.finding.evidence = evidence;
}

/// After a first look: the races on what is at risk that it saw happen, or saw coming, are driven into
/// witnesses before all else. An execution that ends where the race is shown costs little, however long the
/// test is.
Status TestCheck::verify_seen() {
  std::vector<Candidate> seen;
  for (Candidate& candidate : candidates_of(*free_run_, *options_.symbols)) {
    if (candidate.weak || candidate.finding.kind != FindingKind::Race ||
        options_.settled(candidate.fingerprint) || !options_.scope->covers(candidate.finding))
      continue;
    candidate.finding.cause = options_.scope->cause(candidate.finding);
    if (candidate.witnessed || is_impacted_race(candidate)) seen.push_back(std::move(candidate));
  }
  sort_by_promise(seen);
  if (seen.size() > kMostSeen) seen.resize(kMostSeen);
  const double timeout = std::exchange(timeout_, std::min(timeout_, kSecondsSeen));
  verifier_.set_pace(Verifier::Pace::Slow);
  for (std::size_t i = 0; i < seen.size() && !stop(); ++i) {
    verifier_.set_time(share(kPartsSeen * static_cast<double>(seen.size() - i)));
    auto verified = verifier_.verify(seen[i]);
    if (!verified && verified.error().code != ErrorCode::Interrupted) return fail(verified.error());
    if (!verified || !*verified) continue;
    known_.insert(seen[i].fingerprint);
    accept(seen[i], std::move(**verified));
  }
  timeout_ = timeout;
  return {};
}

Status TestCheck::watch_default_run() {
  CheckPlan plan = base_;
  if (options_.detector->explores()) plan.detectors = kDetectors;
  const auto seen = execute(plan);
  if (!seen) return fail(seen.error());
  if (seen->result.end == testing::CheckEnd::NotUnderPlan) {
    controlled_ = false;
    note("it cannot be controlled: only what the free run showed is reported, as potential");
    return {};
  }
  default_ending_ = seen->ending;
  threads_ = seen->result.execution.thread_count;
  points_ = seen->result.execution.points;
  base_.max_points = kPointsBeside + kPointsTimes * points_;
  verifier_.set_points(points_, base_.max_points);
  seconds_ = seen->result.seconds;
  endless_ = seen->cut;
  timeout_ = std::min(timeout_, kLeastSeconds + kTimesSeconds * seen->result.seconds);
  gather(seen->result.execution, plan, plan);
  for (const testing::CheckModule& module : base_.modules)
    if (seen->result.execution.find_module(module) == format::kPlanNone)
      note(fmt::format("{} was not loaded: nothing of it was watched", module.path));
  if (seen->cut) note("under control it " + seen->ending);
  return seen->failed ? failing_by_default(plan, *seen) : Status();
}

/// A test that also fails without our hand fails by itself, unless some schedule lets it pass. Another
/// detector does not tell how its run ended in our words: failures are not its business.
Status TestCheck::failing_by_default(const CheckPlan& plan, const Observed& seen) {
  const bool explores = options_.detector->explores();
  bool in_every_way = true;
  const unsigned tries = explores && threads_ > 1 ? kOwnFailureTries : 0;
  for (unsigned number = 0; number < tries && in_every_way && !stop(); ++number) {
    const auto other = execute(portfolio_plan(base_, seed(), points_, number));
    if (!other) return fail(other.error());
    in_every_way = other->ending == seen.ending;
  }
  if (in_every_way && explores && free_was_cut_) {
    const auto again =
        options_.detector->watch({&test_, &program_, base_, options_.timeout_seconds, options_.interrupt});
    if (!again) return fail(again.error());
    free_ending_ = again->ending;
  }
  if (explores && seen.ending != free_ending_) in_every_way = false;
  if (!in_every_way) return failure(plan, seen);
  verifier_.set_usual(seen);
  explained_.insert(seen.ending);
  note(fmt::format("it fails in every way it was run: {}", seen.ending));
  return {};
}

Status TestCheck::failure(const CheckPlan& plan, const Observed& seen) {
  if (explained_.contains(seen.ending)) return {};
  verifier_.set_time(share(kPartsExplained));
  auto verified = verifier_.explain(plan, seen);
  if (!verified) return fail(verified.error());
  if (!*verified) {
    note(fmt::format("an execution ended with: {}; it did not come back under the same schedule",
                     seen.ending));
    return {};
  }
  // Equal words may stand for several circles of waiting threads: those are told apart by their sides.
  if (seen.result.end != testing::CheckEnd::Deadlock) explained_.insert(seen.ending);
  known_.insert((*verified)->fingerprint);
  if (options_.settled((*verified)->fingerprint)) {
    Candidate again;
    again.fingerprint = (*verified)->fingerprint;
    again.finding = std::move((*verified)->finding);
    result_.seen_again.push_back(std::move(again));
    return {};
  }
  const bool again =
      std::any_of(result_.confirmed.begin(), result_.confirmed.end(),
                  [&](const Verified& other) { return other.fingerprint == (*verified)->fingerprint; });
  if (!again) {
    (*verified)->finding.cause = options_.scope->cause((*verified)->finding);
    result_.confirmed.push_back(std::move(**verified));
  }
  return {};
}

/// One more execution, of which only synchronisation is recorded: who waits for what, and who notifies.
Status TestCheck::look_for_lost_wakeups() {
  if (threads_ < 2 || !options_.detector->explores()) return {};
  CheckPlan plan = base_;
  plan.watched.clear();
  plan.flags |= format::kPlanSynchronizationOnly | format::kPlanRecordEvents;
  plan.detectors = format::kDetectLockCycles;  // for the stacks
  const auto seen = execute(plan);
  if (!seen) return fail(seen.error());
  if (!seen->cut) verifier_.set_synchronization_points(seen->result.execution.points);
  for (Candidate& candidate : lost_wakeups_of(seen->result.execution, *options_.symbols))
    if (known_.insert(candidate.fingerprint).second) candidates_.push_back(std::move(candidate));
  return {};
}

void TestCheck::leave_unproven(Candidate candidate) {
  const bool happened = candidate.witnessed && candidate.finding.kind == FindingKind::Race &&
                        seen_counts_as_ == FindingStatus::Confirmed;
  if (happened) candidate.finding.status = FindingStatus::Confirmed;
  (happened ? result_.seen : result_.potential).push_back(std::move(candidate));
}

/// Where a test hints at many races, which of them can happen is found out together.
Status TestCheck::survey() {
  sort_by_promise(candidates_);
  std::vector<Candidate*> races;
  for (Candidate& candidate : candidates_)
    if (candidate.finding.kind == FindingKind::Race && !candidate.shown_by && !candidate.missed &&
        races.size() < kMostSurveyed)
      races.push_back(&candidate);
  if (races.size() <= kFewRaces || !controlled_) return {};
  verifier_.set_time(share(kPartsSurveyed));
  Status done = verifier_.survey(races);
  if (!done && done.error().code != ErrorCode::Interrupted) return done;
  return {};
}

Status TestCheck::verify_candidates() {
  if (Status done = survey(); !done) return done;
  sort_by_promise(candidates_);
  std::vector<Candidate> later;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    Candidate& candidate = candidates_[i];
    // Where time is short, schedules find more than guesses do, and what could not be met among many.
    if (!explored_ && controlled_ && (candidate.weak || candidate.missed) && !candidate.shown_by &&
        !std::isinf(options_.seconds_left())) {
      later.push_back(std::move(candidate));
      continue;
    }
    const bool stopped = stop();
    if (stopped || !controlled_) {
      if (stopped && controlled_) leave_unfinished(candidate);
      leave_unproven(std::move(candidate));
      continue;
    }
    const double parts = parts_for(candidates_, i, explored_);
    verifier_.set_time(share(parts));
    const bool slow = kExecutionsExpected * seconds_ > options_.seconds_left() / parts;
    verifier_.set_pace(endless_ ? Verifier::Pace::Endless
                       : slow   ? Verifier::Pace::Slow
                                : Verifier::Pace::Quick);
    auto verified = verifier_.verify(candidate);
    if (!verified && verified.error().code != ErrorCode::Interrupted) return fail(verified.error());
    if (!verified || !*verified) {
      if (verified && candidate.weak) {
        ++result_.weak;
      } else {
        if (verifier_.cut() || !verified) leave_unfinished(candidate);
        leave_unproven(std::move(candidate));
      }
      continue;
    }
    accept(candidate, std::move(**verified));
  }
  candidates_ = std::move(later);
  return {};
}

void TestCheck::accept(const Candidate& candidate, Verified verified) {
  if (!verified.finding.cause) verified.finding.cause = candidate.finding.cause;
  if (verified.finding.harm == Harm::Shown) explained_.insert(verified.ending);
  const bool again =
      std::any_of(result_.confirmed.begin(), result_.confirmed.end(),
                  [&](const Verified& other) { return other.fingerprint == verified.fingerprint; });
  if (!again) result_.confirmed.push_back(std::move(verified));
}

void TestCheck::leave_unfinished(Candidate& candidate) {
  ++result_.unfinished;
  candidate.finding.evidence += interrupted() ? "; not verified: interrupted" : "; not verified: budget";
}

Status TestCheck::try_schedules() {
  unsigned cut = 0;
  for (unsigned number = 0; number < options_.schedules && !stop(); ++number) {
    CheckPlan plan = portfolio_plan(base_, seed(), points_, number);
    const bool watched = number < kObservedSchedules;
    if (watched) plan.detectors = kDetectors;
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
    again.detectors = kDetectors;
    const auto looked_at = execute(again);
    if (!looked_at) return fail(looked_at.error());
    gather(looked_at->result.execution, again, plan);
    if (Status done = verify_candidates(); !done) return done;
  }
  if (Status done = failure(plan, seen); !done) return done;
  return verify_candidates();
}

Status TestCheck::run() {
  if (!why_all_.empty()) note(fmt::format("every access is watched: {}", why_all_));
  if (Status done = watch_free_run(); !done) return done;
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

}  // namespace

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
  if (result.unfinished > 0)
    result.notes.push_back(fmt::format(
        "{} potential findings were not verified to the end: {}", result.unfinished,
        options.interrupt && options.interrupt->requested() ? "interrupted" : "the budget was used up"));
  if (!done) result.complete = false;
  result.executions = program->executions();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace simrt::pipeline
