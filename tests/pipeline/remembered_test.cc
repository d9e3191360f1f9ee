// A test of which an exploration left nothing is not explored again, as long as the strategies are the same.
#include "pipeline/explore/remembered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "history/finding_store.h"
#include "pipeline/steer/strategy_identity.h"
#include "support/files.h"

namespace simrt::pipeline {
namespace {

constexpr std::uint64_t kExecutable = 7;

Remembered remembered_behind(const history::ExplorationRecord& record, const std::string& strategy = "map",
                             std::uint64_t executable = kExecutable) {
  auto directory = TemporaryDirectory::create("simrt-remembered");
  EXPECT_TRUE(directory);
  auto database = history::Database::open(directory->path() + "/h.db", {history::OpenMode::Create, {}});
  EXPECT_TRUE(database);
  history::CheckRun run;
  run.head = "one";
  run.started_at = 100;
  const auto begun = history::begin_check(*database, run);
  EXPECT_TRUE(begun);
  history::Interleavings known;
  known.sites = {{SiteId{1}, "f", "a.cc", 3, 5}, {SiteId{2}, "g", "a.cc", 9, 1}};
  known.instances = {{1, {SiteId{1}, SiteId{2}}, true}};
  EXPECT_TRUE(history::put_exploration(*database, *begun, record, known));
  auto remembered = remember(*database, "t", strategy, executable, "");
  EXPECT_TRUE(remembered);
  return std::move(*remembered);
}

history::ExplorationRecord settled(const std::string& by) {
  history::ExplorationRecord record;
  record.test = "t";
  record.strategy = "map";
  record.ended = "saturation";
  record.executable = kExecutable;
  record.executions = 12;
  record.settled = true;
  record.settled_by = by;
  return record;
}

TEST(Settlement, OfTheseStrategiesCounts) {
  EXPECT_TRUE(remembered_behind(settled(strategy_identity())).settled);
  EXPECT_FALSE(remembered_behind(settled(strategy_identity()), "dpor").settled);
  EXPECT_FALSE(remembered_behind(settled(strategy_identity()), "map", kExecutable + 1).settled);
}

TEST(Settlement, OfOtherOnesDoesNotStopExplorationButWhatWasCoveredIsKnown) {
  for (const char* by : {"", "0123456789abcdef"}) {  // "": kept before settlements said whose they are
    const Remembered remembered = remembered_behind(settled(by));
    EXPECT_FALSE(remembered.settled) << by;
    EXPECT_THAT(remembered.note, ::testing::HasSubstr("an earlier version of the strategies"));
    EXPECT_EQ(remembered.covered.size(), 1U);
  }
}

TEST(StrategyIdentity, IsAHash) {
  const std::string identity = strategy_identity();
  EXPECT_EQ(identity.size(), 16U);
  EXPECT_EQ(identity.find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace simrt::pipeline
