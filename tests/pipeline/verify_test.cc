// What the time for one finding means for its verification: executions and clock are made up.
#include "pipeline/check/verify.h"

#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

using format::EventKind;
using format::StrategyKind;
using testing::CheckPlan;
using testing::Execution;

constexpr std::uint64_t kBias = 0x1000, kFirst = 0x10, kSecond = 0x20;
constexpr unsigned kTries = 5, kMost = 200;

/// A program whose every execution looks the same, and one unit of time passes in each.
class Made {
 public:
  bool meets = false, shows = false, fails = false, long_schedules = false, stops = false;
  bool overflows = false;  // where all accesses are recorded
  unsigned executions = 0;
  bool last_recorded_all = false;  // by the last plan that asked for events

  Verifier verifier() {
    VerifyOptions options;
    options.tries = kTries;
    options.shorten_tries = 20;
    return Verifier([this](const CheckPlan& plan) { return run(plan); }, symbols_, options);
  }
  TimeLeft time(unsigned units) {
    return [this, units, start = executions] {
      return units == 0 ? 0 : 1 - static_cast<double>(executions - start) / units;
    };
  }

 private:
  Result<Observed> run(const CheckPlan& plan) {
    ++executions;
    Observed seen;
    seen.failed = fails;
    seen.ending = fails ? "abort" : "passed";
    seen.result.end = fails ? testing::CheckEnd::Crashed : testing::CheckEnd::Finished;
    if (stops && (plan.flags & format::kPlanStopAtMeeting) != 0) {
      seen.failed = false;
      seen.cut = true;
      seen.ending = "stopped at the end of the schedule";
      seen.result.end = testing::CheckEnd::Stopped;
    }
    if (long_schedules && plan.strategy == StrategyKind::Default) {  // it follows one
      seen.failed = false;
      seen.cut = true;
      seen.ending = "not run";
      seen.result.end = testing::CheckEnd::PlanTooLong;
      return seen;
    }
    Execution& execution = seen.result.execution;
    execution.state = format::RunState::Finished;
    execution.modules = {{{}, true, kBias, kBias, kBias + 0x1000}};
    execution.threads = {{0, format::kRunNone, {}}, {1, 0, {}}};
    execution.points = execution.switches = 12;
    if ((plan.flags & format::kPlanRecordEvents) != 0)
      last_recorded_all = (plan.flags & format::kPlanRecordUnwatched) != 0;
    if (overflows && (plan.flags & format::kPlanRecordUnwatched) != 0)
      execution.flags |= format::kRunOverflow;
    if (plan.strategy == StrategyKind::Pair && meets) execution.flags |= format::kRunPairMet;
    if (shows) {
      format::RunRace race = {};
      race.flags = format::kFindingWitnessed;
      race.first.pc = kBias + kFirst;
      race.second.pc = kBias + kSecond;
      execution.races.push_back(race);
    }
    for (unsigned i = 0; i < 12; ++i) {  // long to shorten: every step is another thread's
      format::RunEvent event = {};
      event.thread = static_cast<std::uint16_t>(i % 2);
      event.kind = static_cast<std::uint8_t>(EventKind::Write);
      event.callers = format::kRunNone;
      execution.events.push_back(event);
    }
    return seen;
  }

  Symbols symbols_{"/nowhere", nullptr};
};

Candidate race() {
  Candidate candidate;
  candidate.finding.kind = FindingKind::Race;
  candidate.modules = {{}};
  candidate.pairs = {{{0, kFirst}, {0, kSecond}, true}};
  return candidate;
}

Candidate cycle() {
  Candidate candidate;
  candidate.finding.kind = FindingKind::Deadlock;
  candidate.modules = {{}};
  for (const std::uint64_t site : {kFirst, kSecond}) candidate.steps.push_back({{0, site}, EventKind::Lock});
  return candidate;
}

unsigned without_limit(Made& made, const Candidate& candidate) {
  made.executions = 0;
  Verifier verifier = made.verifier();
  EXPECT_TRUE(verifier.verify(candidate));
  EXPECT_FALSE(verifier.cut());
  return made.executions;
}

TEST(VerifyTime, WhatIsNeverShownEndsAtTheLimit) {
  for (const Candidate& candidate : {race(), cycle()}) {
    Made made;
    const unsigned all = without_limit(made, candidate);
    ASSERT_EQ(all, 2 * kTries);
    for (unsigned limit = 0; limit <= all + 1; ++limit) {
      made.executions = 0;
      Verifier verifier = made.verifier();
      verifier.set_time(made.time(limit));
      const auto verified = verifier.verify(candidate);
      ASSERT_TRUE(verified);
      EXPECT_FALSE(*verified);
      EXPECT_EQ(made.executions, std::min(limit, all));
      EXPECT_EQ(verifier.cut(), limit < all);
    }
  }
}

TEST(VerifyTime, AProofStaysOneHoweverLittleIsLeft) {
  Made made;
  made.meets = made.shows = true;
  for (const bool fails : {false, true}) {
    made.fails = fails;
    const unsigned all = without_limit(made, race());
    for (unsigned limit = 0; limit <= all; ++limit) {
      made.executions = 0;
      Verifier verifier = made.verifier();
      verifier.set_time(made.time(limit));
      const auto verified = verifier.verify(race());
      ASSERT_TRUE(verified);
      EXPECT_EQ(verified->has_value(), limit > 0);
      EXPECT_LE(made.executions, limit == 0 ? 0 : limit + 2);
      if (!*verified) continue;
      EXPECT_EQ((*verified)->finding.status, FindingStatus::Confirmed);
      EXPECT_EQ((*verified)->finding.harm == Harm::Shown, fails);
    }
  }
}

TEST(VerifyTime, AnExplanationEndsAtTheLimitToo) {
  Made made;
  made.fails = true;
  CheckPlan plan;
  Observed failed;
  failed.failed = true;
  failed.ending = "abort";
  failed.result.end = testing::CheckEnd::Crashed;
  failed.result.execution.points = 12;
  Verifier unlimited = made.verifier();
  ASSERT_TRUE(unlimited.explain(plan, failed));
  const unsigned all = made.executions;
  ASSERT_GT(all, 40U);
  for (unsigned limit = 0; limit < all && limit < kMost; ++limit) {
    made.executions = 0;
    Verifier verifier = made.verifier();
    verifier.set_time(made.time(limit));
    const auto explained = verifier.explain(plan, failed);
    ASSERT_TRUE(explained);
    ASSERT_TRUE(*explained);
    EXPECT_EQ((*explained)->finding.status, FindingStatus::Confirmed);
    EXPECT_LE(made.executions, limit + 2);
  }
}

/// The proof is where the threads meet; what comes of it is seen when the witness is run to its end.
TEST(Harm, WhatComesBehindTheMeetingCounts) {
  for (const bool fails : {false, true}) {
    Made made;
    made.meets = made.shows = made.stops = true;
    made.fails = fails;
    Verifier verifier = made.verifier();
    verifier.set_pace(Verifier::Pace::Endless);
    const auto verified = verifier.verify(race());
    ASSERT_TRUE(verified && *verified);
    EXPECT_EQ((*verified)->finding.harm == Harm::Shown, fails);
    EXPECT_EQ((*verified)->ending, fails ? "abort" : "passed");
    EXPECT_EQ((*verified)->finding.difference.find("was not compared") == std::string::npos, fails);
    ASSERT_EQ((*verified)->plan.pairs.size(), 1U) << "what a replay has to show";
    EXPECT_EQ((*verified)->plan.pairs[0].second.offset, kSecond);
  }
}

/// The log of events keeps the beginning: the picture is of what the last recorded execution did.
TEST(Picture, WhereAllAccessesAreTooManyItIsOfTheScheduledOnes) {
  for (const bool overflows : {false, true}) {
    Made made;
    made.meets = made.shows = true;
    made.overflows = overflows;
    Verifier verifier = made.verifier();
    const auto verified = verifier.verify(race());
    ASSERT_TRUE(verified && *verified);
    EXPECT_EQ(made.last_recorded_all, !overflows);
  }
}

TEST(Explanation, AScheduleTooLongToFollowIsTakenAgainByItsStrategy) {
  Made made;
  made.fails = made.long_schedules = true;
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  plan.seed = 7;
  Observed failed;
  failed.failed = true;
  failed.ending = "abort";
  failed.result.end = testing::CheckEnd::Crashed;
  Verifier verifier = made.verifier();
  const auto explained = verifier.explain(plan, failed);
  ASSERT_TRUE(explained);
  ASSERT_TRUE(*explained);
  EXPECT_EQ((*explained)->plan.strategy, StrategyKind::Random);
  EXPECT_EQ((*explained)->plan.seed, 7U);
}

TEST(Explanation, WhatNoExecutionShowedIsNotClaimed) {
  Made made;
  made.fails = true;
  Observed failed;
  failed.failed = true;
  failed.ending = "abort";
  failed.result.end = testing::CheckEnd::Crashed;
  Verifier verifier = made.verifier();
  const auto with = verifier.explain(CheckPlan{}, failed);
  ASSERT_TRUE(with && *with);
  EXPECT_NE((*with)->finding.difference.find("others: passed"), std::string::npos);
  verifier.set_no_other();
  const auto without = verifier.explain(CheckPlan{}, failed);
  ASSERT_TRUE(without && *without);
  EXPECT_EQ((*without)->finding.difference.find("passed;"), std::string::npos);
  EXPECT_NE((*without)->finding.difference.find("no execution has passed"), std::string::npos);
  EXPECT_EQ((*without)->finding.evidence.find("another schedule"), std::string::npos);
}

TEST(VerifyTime, AnExecutionThatShowedItComesFirst) {
  Made made;
  made.shows = true;
  Candidate candidate = race();
  candidate.shown_by = CheckPlan{};
  Verifier verifier = made.verifier();
  verifier.set_time(made.time(1));
  const auto verified = verifier.verify(candidate);
  ASSERT_TRUE(verified);
  ASSERT_TRUE(*verified);
  EXPECT_LE(made.executions, 2U);
}

}  // namespace
}  // namespace simrt::pipeline
