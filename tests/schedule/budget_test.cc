// What runs next, when to stop, and how a failing schedule is made small.
#include <gtest/gtest.h>

#include "executions.h"
#include "interpreter.h"
#include "schedule/minimise.h"
#include "schedule/portfolio.h"
#include "schedule/saturation.h"

namespace simrt::schedule {
namespace {

TEST(Minimise, ALongFailingScheduleKeepsOnlyTheSwitchesItNeeds) {
  Program program;  // check-then-use with much noise around: one preemption is needed
  program.variables = {1, 0, 0};
  std::vector<Instruction> noise;
  for (int i = 0; i < 20; ++i) noise.push_back({Op::Write, 1, i, "noise"});
  std::vector<Instruction> user = noise, clearer = noise;
  user.push_back({Op::Read, 0, 0, "use"});
  user.push_back({Op::AssertEqual, 0, 1, "assert"});
  clearer.push_back({Op::Write, 0, 0, "clear"});
  program.threads = {user, clearer, noise};
  Interpreter interpreter(program);
  Choices failing;
  for (int i = 0; i < 21; ++i)
    for (const ThreadIndex thread : {1U, 2U, 0U})
      if (thread != 2 || i < 20) failing.push_back(thread);
  const Execution original = interpreter.run(failing);
  ASSERT_EQ(original.outcome.end, ExecutionEnd::Failed);
  ASSERT_GT(context_switches(choices_of(original)), 40U);
  const StillFails same_failure = [&](const Stretches& schedule) -> std::optional<Stretches> {
    const Execution execution = interpreter.run(choices_of(schedule));
    if (!(execution.outcome == original.outcome)) return std::nullopt;
    return stretches_of(choices_of(execution));
  };
  const Stretches whole = stretches_of(choices_of(original));
  const MinimisedSchedule small = minimise(whole, same_failure);
  EXPECT_TRUE(same_failure(small.schedule));
  EXPECT_LE(small.switches, 1U);
  EXPECT_EQ(small.switches, context_switches(small.schedule));
  EXPECT_TRUE(small.minimal);
  const MinimisedSchedule hasty = minimise(whole, same_failure, 2);
  EXPECT_LE(hasty.executions, 2U);
  EXPECT_TRUE(same_failure(hasty.schedule));
}

TEST(Minimise, AScheduleThatNeedsAllItsSwitchesIsKept) {
  const Stretches failing{{0, 1}, {1, 1}, {0, 1}, {1, 1}};
  const StillFails only_this = [&](const Stretches& schedule) -> std::optional<Stretches> {
    return schedule == failing ? std::optional(schedule) : std::nullopt;
  };
  EXPECT_EQ(minimise(failing, only_this).schedule, failing);
}

std::vector<std::uint64_t> shares(std::uint64_t seed, std::uint64_t better) {
  Portfolio portfolio({"random", "pct", "map"}, 600, seed);
  while (const auto index = portfolio.next()) portfolio.report(*index, *index == 1 ? better : 0, false);
  std::vector<std::uint64_t> counts;
  for (const auto& strategy : portfolio.strategies()) counts.push_back(strategy.executions);
  return counts;
}

TEST(Portfolio, TheBudgetGoesToWhatFindsNewCoverage) {
  const auto counts = shares(1, 40);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 600U);
  EXPECT_GT(counts[1], counts[0] + counts[2]);
  EXPECT_GT(counts[0], 10U) << "nobody is given up for good";
  EXPECT_GT(counts[2], 10U);
}

TEST(Portfolio, ItIsDeterministicInItsSeedAndFairWithoutReward) {
  EXPECT_EQ(shares(7, 40), shares(7, 40));
  for (const std::uint64_t count : shares(7, 0)) EXPECT_NEAR(static_cast<double>(count), 200, 60);
}

TEST(Portfolio, EachStrategyRunsOnceInTheGivenOrderFirst) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Portfolio portfolio({"first", "second", "third"}, 10, seed);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(portfolio.next(), std::optional(i));
      portfolio.report(i, i == 0 ? 1000 : 0, false);
    }
  }
}

TEST(Portfolio, ItShiftsWhenAStrategyDriesUpAndStopsWhenAllHaveFinished) {
  Portfolio portfolio({"first", "second"}, 1000, 3);
  std::uint64_t late = 0;
  for (int i = 0; i < 800; ++i) {
    const auto index = portfolio.next();
    ASSERT_TRUE(index);
    portfolio.report(*index, (*index == 0) == (i < 400) ? 50 : 0, false);
    late += i >= 500 && *index == 1 ? 1 : 0;
  }
  EXPECT_GT(late, 200U);
  portfolio.finish(0);
  EXPECT_EQ(portfolio.next(), std::optional<std::size_t>(1));
  portfolio.finish(1);
  EXPECT_EQ(portfolio.next(), std::nullopt);
}

TEST(Portfolio, ATurnOfSomebodyWhoHasNothingLeftGoesToAnother) {
  Portfolio portfolio({"first", "second"}, 3, 1);
  ASSERT_TRUE(portfolio.take(0));
  portfolio.report(0, 1, false);
  ASSERT_TRUE(portfolio.take(0));
  portfolio.finish(0);
  int others = 0;
  while (const auto index = portfolio.next()) others += *index == 1 ? 1 : 0;
  EXPECT_EQ(others, 2) << "3 executions in all";
}

TEST(Saturation, ItStopsBehindTheLastDiscoveryAndNotBefore) {
  Saturation saturation({.probability = 0.05, .stale = 10, .executions = 5});
  EXPECT_EQ(saturation.discovery_probability(), 1.0);
  const auto some = [](std::uint64_t n) {
    std::unordered_set<PatternInstance> instances;
    PatternInstance made;
    made.pattern = 1;
    for (std::uint64_t i = 1; i <= n; ++i) {
      made.sites[0] = {i};
      instances.insert(made);
    }
    return instances;
  };
  for (std::uint64_t n = 1; n <= 20; ++n) {
    EXPECT_EQ(saturation.add(some(n)), 1U);
    EXPECT_FALSE(saturation.reached());
  }
  std::uint64_t more = 0;
  for (; !saturation.reached() && more < 100; ++more) EXPECT_EQ(saturation.add(some(20)), 0U);
  EXPECT_GE(more, 10U);
  EXPECT_LT(more, 100U);
}

}  // namespace
}  // namespace simrt::schedule
