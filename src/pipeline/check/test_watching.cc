// Runs of a test that are only watched: free, by default, for synchronisation alone.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/check/lost_wakeup.h"
#include "pipeline/check/portfolio.h"
#include "pipeline/check/test_check.h"

namespace simrt::pipeline {
namespace {

using format::RunMode;
using testing::CheckPlan;

// An execution that passes so many more scheduling points than the default one goes round in circles.
constexpr std::uint64_t kPointsBeside = 50'000, kPointsTimes = 20, kPointsTimesHanging = 2;
constexpr double kLeastSeconds = 10, kTimesSeconds = 20;  // the same for code without points
// A test that fails by itself fails under so many schedules.
constexpr unsigned kOwnFailureTries = 12;

}  // namespace

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
    result_.took_part = false;
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

Status TestCheck::watch_default_run() {
  CheckPlan plan = base_;
  if (options_.detector->explores()) plan.detectors = kCheckDetectors;
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
  // One that hangs has passed far more points than it needed.
  const bool hangs = seen->result.end == testing::CheckEnd::Livelock;
  base_.max_points = kPointsBeside + (hangs ? kPointsTimesHanging : kPointsTimes) * points_;
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

}  // namespace simrt::pipeline
