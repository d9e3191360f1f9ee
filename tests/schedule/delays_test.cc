#include "schedule/delays.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executions.h"

namespace simrt::schedule {
namespace {

std::vector<Delay> before(const std::vector<Delay>& delays, const char* site) {
  std::vector<Delay> found;
  std::ranges::copy_if(delays, std::back_inserter(found),
                       [&](const Delay& each) { return each.site == site_id(site); });
  return found;
}

TEST(Delays, AThreadIsStoppedWhereItsWorkIsHalfDoneFirst) {
  ExecutionBuilder builder;
  builder.write(1, 0x10, "first").write(1, 0x20, "second").read(2, 0x10, "looks").read(2, 0x20, "again");
  const std::vector<Delay> delays = delays_of(builder.get());
  ASSERT_EQ(delays.size(), 4U);
  EXPECT_EQ(delays[0].site, site_id("second"));
  EXPECT_EQ(delays[0].thread, 1U);
  EXPECT_EQ(delays[0].points, 1U);
  EXPECT_EQ(delays[0].other, 2U);
  EXPECT_EQ(delays[0].until, 2U) << "behind its read of the same variable";
  EXPECT_EQ(delays[1].site, site_id("again"));
  for (std::size_t i = 0; i < delays.size(); ++i) EXPECT_EQ(delays[i].splits, i < 2) << i;
}

TEST(Delays, ACommonLockKeepsTheOtherThreadOut) {
  ExecutionBuilder builder;
  builder.lock(1, 0x1, "lock").read(1, 0x10, "reads").unlock(1, 0x1);
  builder.lock(1, 0x1, "lock again").write(1, 0x10, "writes").unlock(1, 0x1);
  builder.lock(2, 0x1, "other lock").write(2, 0x10, "other").unlock(2, 0x1);
  const std::vector<Delay> delays = delays_of(builder.get());
  for (const char* inside : {"reads", "writes", "other"})
    EXPECT_TRUE(before(delays, inside).empty()) << inside;
  ASSERT_FALSE(delays.empty());
  EXPECT_EQ(delays[0].site, site_id("lock again")) << "between the two critical sections";
  EXPECT_EQ(before(delays, "lock").size(), 1U);
  EXPECT_EQ(before(delays, "other lock").size(), 1U);
}

TEST(Delays, AnInnerLockMayBeWaitedForUnderAnother) {
  ExecutionBuilder builder;
  builder.lock(1, 0x1, "a").lock(1, 0x2, "b").unlock(1, 0x2).unlock(1, 0x1);
  builder.lock(2, 0x2, "b'").lock(2, 0x1, "a'").unlock(2, 0x1).unlock(2, 0x2);
  const std::vector<Delay> delays = delays_of(builder.get());
  ASSERT_FALSE(delays.empty());
  EXPECT_TRUE(delays[0].site == site_id("b") || delays[0].site == site_id("a'")) << "towards the deadlock";
  ExecutionBuilder gated;
  gated.lock(1, 0x9, "gate").lock(1, 0x1, "a").unlock(1, 0x1).unlock(1, 0x9);
  gated.lock(2, 0x9, "gate'").lock(2, 0x1, "a'").unlock(2, 0x1).unlock(2, 0x9);
  EXPECT_TRUE(before(delays_of(gated.get()), "a").empty()) << "whoever waits there keeps the gate";
}

TEST(Delays, CreationAndJoiningOrderEverySchedule) {
  ExecutionBuilder builder;
  builder.write(0, 0x10, "before").step(0, EventKind::Create, 1, "create", 0);
  builder.write(1, 0x10, "child").step(1, EventKind::End, 0, "end", 0);
  builder.step(0, EventKind::Join, 1, "join", 0).write(0, 0x10, "after");
  EXPECT_TRUE(delays_of(builder.get()).empty());
}

TEST(Delays, AUseIsStoppedUntilTheMemoryIsFreed) {
  ExecutionBuilder builder;
  builder.step(1, EventKind::Allocate, 0x100, "new", 64);
  builder.write(1, 0x100, "early use").write(1, 0x108, "late use");
  builder.step(2, EventKind::Yield, 0, "elsewhere", 0).step(2, EventKind::Free, 0x100, "delete", 64);
  const std::vector<Delay> delays = delays_of(builder.get());
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_EQ(before(delays, "late use")[0].other, 2U);
  EXPECT_EQ(before(delays, "late use")[0].until, 1U) << "a free is no point of its own";
  EXPECT_EQ(delays[0].site, site_id("late use"));
}

TEST(Delays, BothEndsOfAThreadsWorkComeFirst) {
  ExecutionBuilder builder;
  builder.write(1, 0x10, "0").write(1, 0x20, "1").write(1, 0x30, "2").write(1, 0x40, "3");
  for (const std::uint64_t variable : {0x10, 0x20, 0x30, 0x40}) builder.read(2, variable, "reads");
  std::vector<SiteId> order;
  for (const Delay& delay : delays_of(builder.get()))
    if (delay.thread == 1) order.push_back(delay.site);
  EXPECT_EQ(order, (std::vector{site_id("1"), site_id("3"), site_id("2"), site_id("0")}));
}

// Behind its last step the other thread may as well go to its end, and its first one is `until`.
TEST(Delays, TheOtherThreadMayStopBetweenTwoOfItsSteps) {
  ExecutionBuilder builder;
  for (const char* site : {"looks", "takes", "uses", "uses again", "gives back"})
    builder.read(2, 0x10, site).read(2, 0x99, "own");
  builder.write(1, 0x10, "replaces");
  const std::vector<Delay> delays = before(delays_of(builder.get()), "replaces");
  ASSERT_EQ(delays.size(), 1U);
  EXPECT_EQ(delays[0].until, 1U);
  EXPECT_EQ(delays[0].between, (std::vector<std::uint64_t>{7, 3, 5})) << "the latest, the earliest, the next";
}

TEST(Delays, PlacesBetweenTwoStepsAreAFew) {
  ExecutionBuilder builder;
  for (int i = 0; i < 50; ++i) builder.read(2, 0x10, "read " + std::to_string(i));
  builder.write(1, 0x10, "replaces");
  const std::vector<Delay> delays = before(delays_of(builder.get()), "replaces");
  ASSERT_EQ(delays.size(), 1U);
  EXPECT_EQ(delays[0].between, (std::vector<std::uint64_t>{49, 2, 48, 3, 47, 4, 46, 5}));
}

TEST(Delays, ThreadsThatDoTheSameAreRepresentedByFew) {
  const auto count = [](ThreadIndex threads) {
    ExecutionBuilder builder;
    for (ThreadIndex t = 1; t <= threads; ++t) builder.write(t, 0x10, "sets").write(t, 0x20, "sets more");
    builder.read(threads + 1, 0x10, "checks").read(threads + 1, 0x20, "checks more");
    const std::vector<Delay> delays = delays_of(builder.get());
    EXPECT_EQ(delays.front().other, threads + 1) << "who does something else goes first";
    return delays.size();
  };
  EXPECT_EQ(count(3), count(100));
}

}  // namespace
}  // namespace simrt::schedule
