// What a test hints at is driven into witnesses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/check/candidate_order.h"
#include "pipeline/check/test_check.h"
#include "pipeline/execution/inputs.h"

namespace simrt::pipeline {
namespace {

using testing::CheckPlan;

constexpr double kExecutionsExpected = 8;  // when a race takes fewer, it is slow
// Of what is left of the budget, one in so many parts explains one failure.
constexpr double kPartsExplained = 4;
// More races than a few are aimed at together first, in one of so many parts of what is left.
constexpr std::size_t kFewRaces = 4, kMostSurveyed = 512;
constexpr double kPartsSurveyed = 3;
// Races that a first look saw or hinted at: so many are followed at once, for so long an execution; so many
// parts of what is left are for each of them.
constexpr std::size_t kMostSeen = 6;
constexpr double kSecondsSeen = 3, kPartsSeen = 1.5;

}  // namespace

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

void TestCheck::leave_unproven(Candidate candidate) {
  const bool happened = candidate.witnessed && candidate.finding.kind == FindingKind::Race &&
                        seen_counts_as_ == FindingStatus::Confirmed;
  if (happened) candidate.finding.status = FindingStatus::Confirmed;
  (happened ? result_.seen : result_.potential).push_back(std::move(candidate));
}

void TestCheck::leave_unfinished(Candidate& candidate) {
  ++result_.unfinished;
  result_.complete = false;
  candidate.finding.evidence += interrupted() ? "; not verified: interrupted" : "; not verified: budget";
}

Status TestCheck::failure(const CheckPlan& plan, const Observed& seen) {
  if (explained_.contains(seen.ending)) return {};
  verifier_.set_time(share(kPartsExplained));
  auto verified = verifier_.explain(plan, seen);
  if (!verified) return fail(verified.error());
  if (!*verified) {
    note(fmt::format("an execution ended with: {}; it did not come back under the same schedule{}",
                     seen.ending, read_clause({&seen.result.execution}, {SIZE_MAX, true}, options_.symbols)));
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

}  // namespace simrt::pipeline
