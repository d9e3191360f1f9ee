#include "history/exploration_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/finding_store.h"
#include "history/merge.h"
#include "history/prune.h"
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
    record.settled_by = "strategies";
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
  EXPECT_EQ(last->settled_by, "strategies");
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

/// The two histories of a test that two machines explored, and of one that only the first did.
class MergeExplorations : public ExplorationStore {
 protected:
  std::string make(const std::string& name, std::int64_t at, std::uint64_t covered, bool with_other) {
    const std::string path = files_.file(name).string();
    Database database = create(path);
    for (std::int64_t earlier = 1; earlier < at % 10; ++earlier)
      run_at(database, earlier);  // other row numbers
    Interleavings known = interleavings();
    known.instances[1].covered = covered > 1;
    known.sites[0].line = static_cast<std::uint32_t>(at);
    if (covered > 1) known.orders.clear();
    ok(put_exploration(database, run_at(database, at), record("t", covered), known));
    if (with_other)
      ok(put_exploration(database, run_at(database, at + 1), record("other", 1), interleavings()));
    return path;
  }
  static CheckRunId run_at(Database& database, std::int64_t at) {
    CheckRun run;
    run.head = "h" + std::to_string(at);
    run.started_at = at;
    run.detector = "explore:map";
    return ok(begin_check(database, run));
  }
  static std::vector<std::string> all_of(Database& database) {
    std::vector<std::string> lines;
    for (const char* query :
         {"SELECT test || head || executions || covered FROM v_explorations",
          "SELECT test || pattern || p.covered || function1 || line1 || coalesce(function2, '') || e.head "
          "FROM v_patterns p JOIN v_explorations e USING (exploration, test)",
          "SELECT test || first || second || executions FROM v_method_pairs",
          "SELECT t.name || a.function || after_context || b.function FROM predecessor p JOIN explored_test "
          "t "
          "ON t.id = p.test JOIN interleaving_site a ON a.id = after_site JOIN interleaving_site b ON b.id = "
          "before_site"})
      for (const auto& row : ok(run_sql(database, query)).rows)
        lines.push_back(std::get<std::string>(row[0]));
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  TempDir files_;
};

TEST_F(MergeExplorations, TheNewestDecidesWhateverTheOrder) {
  const std::string a = make("a.db", 102, 1, true), b = make("b.db", 205, 2, false);
  Database one = create(files_.file("one.db")), two = create(files_.file("two.db"));
  EXPECT_EQ(ok(merge(one, a)).explorations, 2U);
  EXPECT_EQ(ok(merge(one, b)).explorations, 1U);
  EXPECT_EQ(ok(merge(two, b)).explorations, 1U);
  EXPECT_EQ(ok(merge(two, a)).explorations, 2U);
  const auto all = all_of(one);
  EXPECT_EQ(all, all_of(two));
  EXPECT_EQ(ok(merge(one, a)), MergeReport());
  EXPECT_EQ(all_of(one), all);
  const Interleavings known = ok(interleavings_of(one, "t"));
  EXPECT_TRUE(known.instances.at(1).covered);
  EXPECT_TRUE(known.orders.empty());
  EXPECT_EQ(ok(interleavings_of(one, "other")).orders.size(), 1U);
  EXPECT_EQ(ok(last_exploration(two, "t"))->covered, 2U) << "the newest by time, not the one merged last";
  EXPECT_EQ(ok(last_exploration(two, "t"))->settled_by, "strategies");
  EXPECT_EQ(ok(explorations_of(two, "t")).size(), 2U);
}

TEST_F(MergeExplorations, PruningKeepsTheNewestOfEachTest) {
  Database database = create(files_.file("p.db"));
  ok(put_exploration(database, run_at(database, 100), record("t", 1), interleavings()));
  ok(put_exploration(database, run_at(database, 200), record("t", 2), interleavings()));
  ok(put_exploration(database, run_at(database, 300), record("once", 1), interleavings()));
  run_at(database, 10'000);
  const PruneReport report = ok(prune(database, {0, 5000, 10'000, false}));
  EXPECT_EQ(report.check_runs, 1U);
  ASSERT_EQ(ok(explorations_of(database, "t")).size(), 1U);
  EXPECT_EQ(ok(last_exploration(database, "t"))->covered, 2U);
  EXPECT_EQ(ok(interleavings_of(database, "t")).instances.size(), 2U);
  EXPECT_TRUE(ok(last_exploration(database, "once")));
}

}  // namespace
}  // namespace simrt::history
