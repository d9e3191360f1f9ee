// What strategies find, and how directed ones are aimed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "controlled_run.h"

namespace simrt::testing {
namespace {

using format::EventKind;
using format::StrategyKind;

int executions_to_failure(const std::string& name, StrategyKind strategy, int limit) {
  CheckProgram program = controlled_program(controlled_builds().front(), name);
  CheckPlan plan;
  plan.strategy = strategy;
  plan.length = run(program, CheckPlan{}).execution.points;
  for (int seed = 1; seed <= limit; ++seed) {
    plan.seed = static_cast<std::uint64_t>(seed);
    if (run(program, plan).failed()) return seed;
  }
  return 0;
}

TEST(Strategies, EachFindsTheLostUpdate) {
  for (StrategyKind strategy : {StrategyKind::Random, StrategyKind::Pct, StrategyKind::Pos,
                                StrategyKind::Surw, StrategyKind::ReadsFrom})
    EXPECT_GT(executions_to_failure("account", strategy, 1000), 0) << static_cast<int>(strategy);
}

// What is not selected is left to chance: a thread is interrupted between its two locks.
TEST(Strategies, UniformForSomethingElseItInterruptsThreadsAnywhere) {
  CheckProgram program = controlled_program(controlled_builds().front(), "twostage");
  CheckPlan plan;
  plan.strategy = StrategyKind::Surw;
  plan.modules = run(program, CheckPlan{}).execution.module_names();
  CheckStep selected;
  selected.address = 16;  // nobody's
  plan.steps = {selected};
  int failed = 0;
  for (plan.seed = 1; plan.seed <= 200; ++plan.seed) failed += run(program, plan).status == 1 ? 1 : 0;
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 100);
}

// The thread that has nearly all of the acquisitions that are to come is the first one.
TEST(Strategies, ASelectedLockGoesToThreadsByTheirCounts) {
  CheckProgram program = controlled_program(controlled_builds().front(), "twostage");
  CheckPlan look;
  look.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, look);
  CheckStep selected;
  for (const auto& event : recorded.execution.events)
    if (event.thread == 1 && event.kind == static_cast<int>(EventKind::Lock) && selected.address == 0)
      selected.address = event.object;
  ASSERT_NE(selected.address, 0U);
  for (const std::uint16_t favoured : {1, 2}) {
    CheckPlan plan;
    plan.strategy = StrategyKind::Surw;
    plan.flags = format::kPlanRecordEvents;
    plan.modules = recorded.execution.module_names();
    plan.steps = {selected};
    plan.weights = {10100, 100, 100};
    plan.weights[favoured] = 10000;
    int first = 0;
    for (plan.seed = 1; plan.seed <= 40; ++plan.seed) {
      const CheckResult result = run(program, plan);
      for (const auto& event : result.execution.events) {
        if (event.object != selected.address || event.kind != static_cast<int>(EventKind::Lock)) continue;
        first += event.thread == favoured ? 1 : 0;
        break;
      }
    }
    EXPECT_GE(first, 34) << favoured;
  }
}

TEST(Strategies, TheDefaultAndRoundRobinTakeOneSchedule) {
  for (StrategyKind strategy : {StrategyKind::Default, StrategyKind::RoundRobin}) {
    CheckProgram program = controlled_program(controlled_builds().front(), "rwlock");
    CheckPlan plan;
    plan.strategy = strategy;
    const CheckResult first = run(program, plan);
    plan.seed = 99;
    EXPECT_TRUE(same_schedule(first.execution, run(program, plan).execution));
  }
}

// The read and the write of the variable that two threads update without a lock, from a recorded run.
struct Update {
  CheckSite read, write;
  bool found = false;
};

Update find_update(const Execution& execution) {
  std::map<std::uint64_t, std::set<std::uint16_t>> writers;
  for (const auto& event : execution.events)
    if (event.kind == static_cast<int>(EventKind::Write) && event.size == 4)
      writers[event.object].insert(event.thread);
  Update result;
  for (const auto& event : execution.events) {
    if (!writers[event.object].contains(1) || !writers[event.object].contains(2) || event.thread == 0)
      continue;
    if (!execution.site_of(event.object)) continue;  // a global
    const auto site = execution.site_of(event.pc);
    if (!site) continue;
    if (event.kind == static_cast<int>(EventKind::Read)) result.read = *site;
    if (event.kind != static_cast<int>(EventKind::Write)) continue;
    result.write = *site;
    result.found = true;
  }
  return result;
}

TEST(Strategies, APairIsBroughtTogetherAtTheFirstTry) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan look;
  look.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, look);
  const Update update = find_update(recorded.execution);
  ASSERT_TRUE(update.found);
  int met = 0;
  std::set<int> ends;
  for (int seed = 1; seed <= 10; ++seed) {
    CheckPlan plan;
    plan.strategy = StrategyKind::Pair;
    plan.seed = static_cast<std::uint64_t>(seed);
    plan.modules = recorded.execution.module_names();
    plan.pairs = {{update.read, update.write, true}};
    const CheckResult result = run(program, plan);
    met += (result.execution.flags & format::kRunPairMet) != 0 ? 1 : 0;
    if ((result.execution.flags & format::kRunPairMet) != 0) {
      ASSERT_FALSE(result.execution.races.empty());
      const auto& race = result.execution.races.front();
      EXPECT_NE(race.flags & format::kFindingWitnessed, 0U);
      EXPECT_NE(race.first.thread, race.second.thread);
      EXPECT_EQ(result.execution.site_of(race.first.pc), update.read);
      EXPECT_EQ(result.execution.site_of(race.second.pc), update.write);
      ASSERT_LT(race.first.stack, result.execution.stacks.size());
    }
    ends.insert(result.status);
  }
  EXPECT_GE(met, 8);
  EXPECT_TRUE(ends.contains(1)) << "reading before the other's write loses an update";
}

// Whoever chooses among the threads that are not held, the pair meets; and the run can end there.
TEST(Strategies, APairIsBroughtTogetherOnEveryWalk) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan look;
  look.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, look);
  const Update update = find_update(recorded.execution);
  ASSERT_TRUE(update.found);
  for (const StrategyKind walk : {StrategyKind::Default, StrategyKind::Random, StrategyKind::Pct,
                                  StrategyKind::Pos, StrategyKind::RoundRobin, StrategyKind::Pair}) {
    CheckPlan plan;
    plan.strategy = StrategyKind::Pair;
    plan.walk = walk;
    plan.depth = 2;
    plan.length = recorded.execution.points;
    plan.modules = recorded.execution.module_names();
    plan.pairs = {{update.read, update.write, true}};
    const CheckResult whole = run(program, plan);
    EXPECT_NE(whole.execution.flags & format::kRunPairMet, 0U) << static_cast<int>(walk);
    EXPECT_EQ(whole.end, CheckEnd::Finished);
    plan.flags = format::kPlanStopAtMeeting;
    const CheckResult stopped = run(program, plan);
    EXPECT_EQ(stopped.end, CheckEnd::Stopped);
    EXPECT_LT(stopped.execution.points, whole.execution.points);
    ASSERT_EQ(stopped.execution.races.size(), 1U);
    EXPECT_NE(stopped.execution.races[0].flags & format::kFindingWitnessed, 0U);
  }
}

// Two accesses that never stand side by side: the run ends where nothing was seen to order them.
TEST(Strategies, ARunThatStopsAtAMeetingStopsAtARaceAsWell) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "published");
    CheckPlan look;
    look.detectors = format::kDetectRaces;
    const CheckResult whole = run(program, look);
    ASSERT_EQ(whole.end, CheckEnd::Finished) << build;
    ASSERT_EQ(whole.execution.races.size(), 1U) << build;
    const format::RunRace& race = whole.execution.races[0];
    CheckPlan plan;
    plan.strategy = StrategyKind::Pair;
    plan.walk = StrategyKind::Default;
    plan.detectors = format::kDetectRaces;
    plan.flags = format::kPlanStopAtMeeting;
    plan.modules = whole.execution.module_names();
    plan.pairs = {{*whole.execution.site_of(race.second.pc), *whole.execution.site_of(race.first.pc), true}};
    const CheckResult stopped = run(program, plan);
    EXPECT_EQ(stopped.end, CheckEnd::Stopped) << build;
    EXPECT_EQ(stopped.execution.flags & format::kRunPairMet, 0U) << build;
    EXPECT_EQ(stopped.execution.races.size(), 1U) << build;
    EXPECT_LT(stopped.execution.points + 100, whole.execution.points) << build;
  }
}

TEST(Strategies, ASequenceIsBroughtAboutAtTheFirstTry) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan look;
  look.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, look);
  const Update update = find_update(recorded.execution);
  ASSERT_TRUE(update.found);
  CheckPlan plan;
  plan.strategy = StrategyKind::Sequence;
  plan.modules = recorded.execution.module_names();
  plan.steps = {{update.read, EventKind::Read, 0, 0},
                {update.write, EventKind::Write, 1, 0},
                {update.write, EventKind::Write, 0, 0}};
  const CheckResult result = run(program, plan);
  EXPECT_NE(result.execution.flags & format::kRunSequenceDone, 0U);
  EXPECT_EQ(result.status, 1);
}

TEST(Strategies, OnlyWatchedSitesArePoints) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan all, few, none;
  all.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, all);
  const Update update = find_update(recorded.execution);
  few.modules = recorded.execution.module_names();
  few.watched = {update.read};
  none.flags = format::kPlanSynchronizationOnly;
  const auto points_few = run(program, few).execution.points,
             points_none = run(program, none).execution.points;
  EXPECT_LT(points_few, recorded.execution.points);
  EXPECT_EQ(points_few, points_none + 2);  // two threads read once
}

// Both updates see the value from before the other one: what a read sees is constrained, the rest is free.
TEST(Strategies, AConstraintOnWhatAReadSeesIsMet) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan look;
  look.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, look);
  const Update update = find_update(recorded.execution);
  ASSERT_TRUE(update.found);
  for (int seed = 1; seed <= 5; ++seed) {
    CheckPlan plan;
    plan.strategy = StrategyKind::ReadsFrom;
    plan.seed = static_cast<std::uint64_t>(seed);
    plan.modules = recorded.execution.module_names();
    plan.pairs = {{update.write, update.read, true}};
    const CheckResult sees = run(program, plan);
    EXPECT_EQ(sees.status, 0) << "held until the write has happened, and then it sees it";
  }
}

TEST(Strategies, OnePeriodRunsOneThreadAfterTheOther) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan plan;
  plan.strategy = StrategyKind::Periodical;
  for (plan.seed = 1; plan.seed <= 5; ++plan.seed) EXPECT_EQ(run(program, plan).status, 0);
}

TEST(Strategies, IgnoredSitesAreNoPointsAndNoEvents) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan all, fewer;
  all.flags = format::kPlanRecordEvents;
  const CheckResult recorded = run(program, all);
  const Update update = find_update(recorded.execution);
  fewer.flags = format::kPlanRecordEvents | format::kPlanSitesIgnored;
  fewer.modules = recorded.execution.module_names();
  fewer.watched = {update.read};
  const CheckResult ignoring = run(program, fewer);
  EXPECT_EQ(ignoring.execution.points + 2, recorded.execution.points);  // two threads read once
  for (const auto& event : ignoring.execution.events)
    EXPECT_NE(ignoring.execution.site_of(event.pc), std::optional(update.read));
}

TEST(Strategies, BlocksOfTheHeapBeginAndEndInTheEventLog) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan plan;
  plan.flags = format::kPlanRecordEvents;
  std::map<std::uint64_t, int> live;
  int allocated = 0;
  for (const auto& event : run(program, plan).execution.events) {
    const auto kind = static_cast<EventKind>(event.kind);
    if (kind == EventKind::Allocate) {
      EXPECT_GT(event.size, 0U);
      live[event.object] = 1;
      ++allocated;
    } else if (kind == EventKind::Free && live.contains(event.object)) {
      EXPECT_EQ(live[event.object]--, 1);
    }
  }
  EXPECT_GT(allocated, 0);
}

int sleeper_first(std::uint64_t short_sleep_ns) {
  CheckProgram program = controlled_program(controlled_builds().front(), "sleeper");
  int first = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CheckPlan plan;
    plan.strategy = StrategyKind::Random;
    plan.seed = seed;
    plan.short_sleep_ns = short_sleep_ns;
    first += run(program, plan).status;
  }
  return first;
}

TEST(Strategies, AShortSleepOrdersNothingIfThePlanSaysSo) {
  EXPECT_EQ(sleeper_first(0), 0);
  EXPECT_EQ(sleeper_first(100'000), 0) << "shorter than the sleep";
  EXPECT_GT(sleeper_first(500'000), 0);
}

// All locks of one wrapper are taken at one place in the library's code; the calls tell them apart.
TEST(Strategies, EventsKnowTheCallsThatLedToThem) {
  CheckProgram program = controlled_program(controlled_builds().front(), "twostage");
  CheckPlan plan;
  plan.flags = format::kPlanRecordEvents;
  const CheckResult result = run(program, plan);
  std::map<std::uint64_t, std::set<std::uint64_t>> calls_of_place;
  for (const auto& event : result.execution.events) {
    if (event.calls != 0) {
      EXPECT_FALSE(result.execution.calls.at(event.calls).empty());
    }
    if (event.kind == static_cast<int>(EventKind::Lock)) calls_of_place[event.pc].insert(event.calls);
  }
  std::size_t most = 0;
  for (const auto& [pc, calls] : calls_of_place) most = std::max(most, calls.size());
  EXPECT_GE(most, 4U) << "two guards in each of two threads";
}

// Hashes of what each atomic access found and left: nobody else changes the memory in between.
TEST(Strategies, AtomicAccessesFindWhatTheOneBeforeLeft) {
  std::size_t changes = 0, accesses = 0;
  for (const char* scenario : {"barriers", "spins"}) {
    CheckProgram program = controlled_program(controlled_builds().front(), scenario);
    CheckPlan plan;
    plan.strategy = StrategyKind::Random;
    plan.flags = format::kPlanRecordEvents;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> left;
    for (const auto& event : run(program, plan).execution.events) {
      const auto kind = static_cast<EventKind>(event.kind);
      if (kind < EventKind::AtomicLoad || kind > EventKind::AtomicFailed || event.value == 0) continue;
      ++accesses;
      const std::uint32_t found = event.value & 0xffff;
      EXPECT_NE(found, 0U);
      EXPECT_NE(event.value >> 16, 0U);
      if (kind == EventKind::AtomicLoad || kind == EventKind::AtomicFailed) {
        EXPECT_EQ(found, event.value >> 16) << "a read changes nothing";
      }
      const auto [at, first] = left.try_emplace({event.object, event.size});
      if (!first) {
        EXPECT_EQ(found, at->second) << scenario;
      }
      at->second = event.value >> 16;
      changes += found != at->second ? 1 : 0;
    }
  }
  EXPECT_GT(accesses, 4U);
  EXPECT_GT(changes, 1U);
}

}  // namespace
}  // namespace simrt::testing
