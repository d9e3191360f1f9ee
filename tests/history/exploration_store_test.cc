#include "history/exploration_store.h"

#include <gtest/gtest.h>

#include "history/finding_store.h"
#include "history/sql_console.h"
#include "sample.h"

namespace simrt::history {
namespace {

class ExplorationStore : public testing::Test {
 private:
  TempDir directory_;

 protected:
  Database database_ = ok(Database::open(directory_.path() / "h.db", {OpenMode::Create, {}}));

  CheckRunId begin(const std::string& head) {
    CheckRun run;
    run.head = head;
    run.started_at = 100;
    run.detector = "explore:map";
    return ok(begin_check(database_, run));
  }
  static ExplorationRecord record(const std::string& test, std::uint64_t covered) {
    ExplorationRecord record;
    record.test = test;
    record.strategy = "map";
    record.ended = "saturation";
    record.executable = 0xfedcba9876543210ULL;
    record.executions = 12;
    record.settled = true;
    record.covered = covered;
    record.feasible = 20;
    record.total = 1e19;
    return record;
  }
  static constexpr SiteId kRead{0xaaaaaaaaaaaaaaaaULL}, kWrite{0xbbbbbbbbbbbbbbbbULL};

  static Interleavings interleavings() {
    Interleavings known;
    known.sites = {{kRead, "f", "a.cc", 3, 5}, {kWrite, "C::g", "a.cc", 9, 1}};
    known.instances = {{1, {kRead, kWrite}, true}, {4, {kRead, kWrite, kRead}, false}};
    known.orders = {{kRead, 7, kWrite, 0}};
    known.method_pairs = {{"C::g", "f", 4}};
    return known;
  }
};

TEST_F(ExplorationStore, WhatIsKnownOfATestComesBackAndIsReplaced) {
  ok(put_exploration(database_, begin("one"), record("t", 1), interleavings()));
  const Interleavings known = ok(interleavings_of(database_, "t"));
  ASSERT_EQ(known.sites.size(), 2U);
  EXPECT_EQ(known.sites[0].site, kRead);
  EXPECT_EQ(known.sites[1].function, "C::g");
  ASSERT_EQ(known.instances.size(), 2U);
  EXPECT_TRUE(known.instances[0].covered);
  EXPECT_EQ(known.instances[1].pattern, 4);
  EXPECT_EQ(known.instances[1].sites, (std::array<SiteId, 4>{kRead, kWrite, kRead}));
  EXPECT_FALSE(known.instances[1].covered);
  ASSERT_EQ(known.orders.size(), 1U);
  EXPECT_EQ(known.orders[0].after, kRead);
  EXPECT_EQ(known.orders[0].after_context, 7U);
  EXPECT_EQ(known.method_pairs[0].executions, 4U);
  Interleavings fewer = interleavings();
  fewer.instances.pop_back();
  ok(put_exploration(database_, begin("two"), record("t", 1), fewer));
  EXPECT_EQ(ok(interleavings_of(database_, "t")).instances.size(), 1U);
  EXPECT_TRUE(ok(interleavings_of(database_, "other")).instances.empty());
}

TEST_F(ExplorationStore, ATestsKnowledgeIsItsOwn) {
  ok(put_exploration(database_, begin("one"), record("t", 1), interleavings()));
  ok(put_exploration(database_, begin("one"), record("u", 1), {}));
  EXPECT_EQ(ok(interleavings_of(database_, "t")).instances.size(), 2U);
  EXPECT_TRUE(ok(interleavings_of(database_, "u")).instances.empty());
}

TEST_F(ExplorationStore, TheTrendHasEveryExplorationAndItsRevision) {
  for (const char* head : {"one", "two"}) ok(put_exploration(database_, begin(head), record("t", 5), {}));
  ok(put_exploration(database_, begin("two"), record("u", 6), {}));
  const auto all = ok(explorations_of(database_, ""));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].head, "one");
  EXPECT_EQ(all[2].test, "u");
  EXPECT_EQ(all[2].covered, 6U);
  EXPECT_EQ(all[0].executable, 0xfedcba9876543210ULL);
  EXPECT_DOUBLE_EQ(all[0].total, 1e19);
  const auto last = ok(last_exploration(database_, "t"));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->head, "two");
  EXPECT_TRUE(last->settled);
  EXPECT_FALSE(ok(last_exploration(database_, "v")).has_value());
}

TEST_F(ExplorationStore, ASiteThatIsNotKeptIsAnError) {
  Interleavings known = interleavings();
  known.sites.pop_back();
  EXPECT_FALSE(put_exploration(database_, begin("one"), record("t", 1), known).has_value());
  EXPECT_TRUE(ok(interleavings_of(database_, "t")).sites.empty()) << "nothing of it stays";
}

TEST_F(ExplorationStore, ViewsNameTheSites) {
  ok(put_exploration(database_, begin("one"), record("t", 1), interleavings()));
  const auto rows = ok(run_sql(database_, "SELECT function1, line2 FROM v_patterns WHERE covered = 1"));
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(rows.rows[0][0]), "f");
  EXPECT_EQ(std::get<std::int64_t>(rows.rows[0][1]), 9);
}

}  // namespace
}  // namespace simrt::history
