#include "history/run_store.h"

#include <gtest/gtest.h>

#include "history/sql_console.h"
#include "history/stats.h"
#include "sample.h"

namespace simrt::history {
namespace {

TEST(RunStore, ARunComesBackAsItWasPut) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  TestRun run = test_run("Suite.Case", block_set({1, 2, 3}), block_set({7}), block_set({5, 100000}));
  run.outcome = Outcome::Crashed;
  run.exit_code = -11;
  run.seconds = 1.75;
  run.executable = 0xfedcba9876543210;
  run.notes = {"forked 3 children", ""};
  const RunId id = ok(put_run(database, revision, test_case("Suite.Case"), run, 123456));

  const std::vector<RecordedRun> recorded = ok(recorded_tests(database, revision));
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_EQ(recorded[0].run, id);
  EXPECT_EQ(recorded[0].finished_at, 123456);
  EXPECT_FALSE(recorded[0].reused);
  EXPECT_EQ(recorded[0].test.name, "Suite.Case");
  EXPECT_EQ(recorded[0].test.command, test_case("Suite.Case").command);
  EXPECT_EQ(recorded[0].last.test, test_id("Suite.Case"));
  EXPECT_EQ(recorded[0].last.outcome, Outcome::Crashed);
  EXPECT_EQ(recorded[0].last.exit_code, -11);
  EXPECT_EQ(recorded[0].last.seconds, 1.75);
  EXPECT_EQ(recorded[0].last.executable, 0xfedcba9876543210);
  EXPECT_EQ(recorded[0].last.notes, run.notes);
  EXPECT_TRUE(recorded[0].last.has_coverage);
  EXPECT_TRUE(same_coverage(recorded[0].last.coverage, run.coverage));

  const std::vector<RecordedRun> light = ok(recorded_tests(database, revision, WithCoverage::No));
  EXPECT_TRUE(light[0].last.has_coverage);
  EXPECT_TRUE(light[0].last.coverage.all().isEmpty());
}

TEST(RunStore, NoTraceIsNotTheSameAsNothingCovered) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  TestRun without = test_run("a", {}, {}, {});
  without.has_coverage = false;
  ok(put_run(database, revision, test_case("a"), without, 1));
  ok(put_run(database, revision, test_case("b"), test_run("b", {}, {}, {}), 1));
  const auto recorded = ok(recorded_tests(database, revision));
  ASSERT_EQ(recorded.size(), 2U);
  EXPECT_FALSE(recorded[0].last.has_coverage);
  EXPECT_TRUE(recorded[1].last.has_coverage);
}

TEST(RunStore, TheLatestRunCountsAndAllAreKept) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc"), other = begin(database, "def");
  TestRun run = test_run("t", block_set({1}), {}, {});
  run.seconds = 1;
  ok(put_run(database, revision, test_case("t"), run, 10));
  run.seconds = 3;
  ok(put_run(database, revision, test_case("t"), run, 30));
  run.seconds = 2;
  ok(put_run(database, revision, test_case("t"), run, 20));  // merged or written late: not the latest
  run.seconds = 9;
  ok(put_run(database, other, test_case("t"), run, 99));
  const auto recorded = ok(recorded_tests(database, revision));
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_EQ(recorded[0].last.seconds, 3);
  EXPECT_EQ(ok(stats(database)).runs, 4U);
  EXPECT_EQ(ok(stats(database)).coverages, 1U);  // equal coverage once
}

TEST(RunStore, TestsComeByNameAndIdenticalRunsDoNotClash) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc");
  for (const char* name : {"zeta", "alpha", "mid", "alpha"})
    ok(put_run(database, revision, test_case(name), test_run(name, block_set({1}), {}, {}), 7));
  const auto recorded = ok(recorded_tests(database, revision));
  ASSERT_EQ(recorded.size(), 3U);
  EXPECT_EQ(recorded[0].test.name, "alpha");
  EXPECT_EQ(recorded[2].test.name, "zeta");
  EXPECT_EQ(ok(stats(database)).runs, 4U);
}

TEST(RunStore, AnUnchangedExecutableIsReused) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId first = begin(database, "one"), second = begin(database, "two");
  const TestCase test = test_case("t");
  TestRun run = test_run("t", block_set({1, 2}), {}, block_set({3}));
  run.notes = {"2 threads alive at exit"};
  const RunId original = ok(put_run(database, first, test, run, 10));

  EXPECT_FALSE(ok(find_reusable_run(database, test, 43, "env")).has_value());
  EXPECT_FALSE(ok(find_reusable_run(database, test, 0, "env")).has_value());
  EXPECT_FALSE(ok(find_reusable_run(database, test, 42, "other")).has_value());
  TestCase redefined = test;
  redefined.environment["MODE"] = "fast";
  EXPECT_FALSE(ok(find_reusable_run(database, redefined, 42, "env")).has_value());

  const auto found = ok(find_reusable_run(database, test, 42, "env"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->run, original);
  EXPECT_TRUE(same_coverage(found->last.coverage, run.coverage));

  ok(reuse_run(database, second, test, original, 20));
  const auto recorded = ok(recorded_tests(database, second));
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_TRUE(recorded[0].reused);
  EXPECT_EQ(recorded[0].last.notes, run.notes);
  EXPECT_EQ(recorded[0].last.seconds, run.seconds);
  EXPECT_TRUE(same_coverage(recorded[0].last.coverage, run.coverage));
  // What is reused is always a real run, never a copy of a copy.
  EXPECT_EQ(ok(find_reusable_run(database, test, 42, "env"))->run, original);
  EXPECT_FALSE(reuse_run(database, second, test_case("u"), original, 20).has_value());
  EXPECT_FALSE(reuse_run(database, second, test, {4711}, 20).has_value());
}

std::vector<std::string> suite(Database& database, RevisionId revision) {
  std::vector<std::string> names;
  for (const RecordedRun& run : ok(recorded_tests(database, revision))) names.push_back(run.test.name);
  return names;
}

TEST(RunStore, TestsThatARecordingNoLongerFindsLeaveTheSuite) {
  using Names = std::vector<std::string>;
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId revision = begin(database, "abc"), other = begin(database, "def");
  const std::vector<TestCase> all{test_case("a"), test_case("b"), test_case("c")}, only_a{test_case("a")};
  for (const RevisionId each : {revision, other}) {
    ok(announce_tests(database, each, all));
    for (const char* name : {"a", "b"})
      ok(put_run(database, each, test_case(name), test_run(name, block_set({1}), {}, {}), 10));
  }
  EXPECT_EQ(ok(narrow_suite(database, revision, all)), 0U);
  EXPECT_EQ(suite(database, revision), (Names{"a", "b", "c"}));
  EXPECT_EQ(ok(narrow_suite(database, revision, only_a)), 2U);
  EXPECT_EQ(suite(database, revision), Names{"a"});
  EXPECT_EQ(ok(narrow_suite(database, revision, only_a)), 0U);
  EXPECT_EQ(suite(database, other), (Names{"a", "b", "c"}));
  const auto tests = ok(run_sql(database, "SELECT tests FROM v_revisions ORDER BY revision"));
  EXPECT_EQ(tests.rows, (std::vector<std::vector<SqlValue>>{{std::int64_t{1}}, {std::int64_t{3}}}));
  EXPECT_EQ(ok(run_sql(database, "SELECT * FROM v_latest_runs")).rows.size(), 4U);

  // What is known of them stays, and whoever finds them again has them back.
  EXPECT_TRUE(ok(find_reusable_run(database, test_case("b"), 42, "env")).has_value());
  ok(announce_tests(database, revision, {test_case("a"), test_case("c")}));
  EXPECT_EQ(suite(database, revision), (Names{"a", "c"}));
  ok(put_run(database, revision, test_case("b"), test_run("b", block_set({1}), {}, {}), 11));
  EXPECT_EQ(suite(database, revision), (Names{"a", "b", "c"}));
  EXPECT_EQ(ok(narrow_suite(database, revision, only_a)), 2U);
  EXPECT_EQ(suite(database, revision), Names{"a"});
  ok(announce_tests(database, revision, all));
  EXPECT_EQ(suite(database, revision), (Names{"a", "b", "c"}));
}

TEST(RunStore, AnUnknownRevisionIsRefused) {
  TempDir dir;
  Database database = create(dir.file());
  EXPECT_FALSE(put_run(database, {77}, test_case("t"), test_run("t", {}, {}, {}), 1).has_value());
  EXPECT_EQ(ok(stats(database)).tests, 0U);  // and leaves nothing behind
}

}  // namespace
}  // namespace simrt::history
