#include "testing/schedule.h"

#include <gmock/gmock.h>

#include "testing/run_all.h"

namespace simrt::testing {
namespace {

using ::testing::ElementsAre;

std::vector<TestCase> tests(std::size_t count) {
  std::vector<TestCase> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i].ctest = result[i].name = "t" + std::to_string(i);
  return result;
}

/// Starts what may start now.
std::vector<std::size_t> start_all(RunSchedule& schedule) {
  std::vector<std::size_t> started;
  while (const auto test = schedule.start_next()) started.push_back(*test);
  return started;
}

TEST(RunSchedule, KeepsTheOrderWithinItsSlots) {
  const auto suite = tests(4);
  RunSchedule schedule(suite, 2);
  EXPECT_THAT(start_all(schedule), ElementsAre(0, 1));
  schedule.finish(1, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(2));
  schedule.finish(0, true);
  schedule.finish(2, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(3));
  EXPECT_EQ(schedule.waiting(), 0U);
  EXPECT_EQ(schedule.running(), 1U);
}

TEST(RunSchedule, SerialTestsRunAlone) {
  auto suite = tests(4);
  suite[1].rules.run_serial = true;
  RunSchedule schedule(suite, 3);
  EXPECT_THAT(start_all(schedule), ElementsAre(0, 2, 3));
  schedule.finish(0, true);
  schedule.finish(2, true);
  EXPECT_THAT(start_all(schedule), ElementsAre());
  schedule.finish(3, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(1));
}

TEST(RunSchedule, NothingStartsBesideASerialTest) {
  auto suite = tests(2);
  suite[0].rules.run_serial = true;
  RunSchedule schedule(suite, 2);
  EXPECT_THAT(start_all(schedule), ElementsAre(0));
  schedule.finish(0, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(1));
}

TEST(RunSchedule, SharedLocksExclude) {
  auto suite = tests(3);
  suite[0].rules.resource_locks = {"a", "b"};
  suite[1].rules.resource_locks = {"b"};
  suite[2].rules.resource_locks = {"c"};
  RunSchedule schedule(suite, 3);
  EXPECT_THAT(start_all(schedule), ElementsAre(0, 2));
  schedule.finish(0, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(1));
}

TEST(RunSchedule, ProcessorsCountAsJobsButNeverBlockForEver) {
  auto suite = tests(3);
  suite[0].rules.processors = 2;
  suite[1].rules.processors = 100;
  RunSchedule schedule(suite, 3);
  EXPECT_THAT(start_all(schedule), ElementsAre(0, 2));
  schedule.finish(0, true);
  schedule.finish(2, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(1));
}

TEST(RunSchedule, FixturesAndDependencies) {
  auto suite = tests(5);
  suite[0].rules.fixtures_cleanup = {"db"};
  suite[1].rules.fixtures_required = {"db"};
  suite[2].rules.fixtures_setup = {"db"};
  suite[3].rules.depends = {"t4", "unknown"};
  RunSchedule schedule(suite, 5);
  EXPECT_THAT(start_all(schedule), ElementsAre(2, 4));
  schedule.finish(2, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(1));
  EXPECT_EQ(schedule.broken_fixture(1), std::nullopt);
  schedule.finish(4, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(3));
  schedule.finish(1, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(0));
}

TEST(RunSchedule, AFailedSetUpBreaksItsFixture) {
  auto suite = tests(3);
  suite[0].rules.fixtures_setup = {"db"};
  suite[1].rules.fixtures_required = {"db"};
  RunSchedule schedule(suite, 1);
  EXPECT_THAT(start_all(schedule), ElementsAre(0));
  schedule.finish(0, false);
  EXPECT_EQ(schedule.broken_fixture(1), "db");
  EXPECT_EQ(schedule.broken_fixture(2), std::nullopt);
}

TEST(RunSchedule, ACycleIsBrokenAtItsFirstTest) {
  auto suite = tests(2);
  suite[0].rules.depends = {"t1"};
  suite[1].rules.depends = {"t0"};
  RunSchedule schedule(suite, 2);
  EXPECT_THAT(start_all(schedule), ElementsAre(0));
  schedule.finish(0, true);
  EXPECT_THAT(start_all(schedule), ElementsAre(1));
}

TEST(WithFixtures, AddsSetUpAndCleanUpTransitively) {
  auto suite = tests(6);
  suite[0].rules.fixtures_setup = {"network"};
  suite[1].rules.fixtures_setup = {"db"};
  suite[1].rules.fixtures_required = {"network"};
  suite[2].rules.fixtures_required = {"db"};
  suite[3].rules.fixtures_cleanup = {"db"};
  suite[4].rules.fixtures_setup = {"other"};
  EXPECT_THAT(with_fixtures(suite, {2}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(with_fixtures(suite, {5}), ElementsAre(5));
  EXPECT_THAT(with_fixtures(suite, {}), ElementsAre());
}

}  // namespace
}  // namespace simrt::testing
