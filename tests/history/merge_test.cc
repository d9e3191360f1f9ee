#include "history/merge.h"

#include <gtest/gtest.h>

#include "history/block_numbers.h"
#include "history/facts_store.h"
#include "history/mapping_store.h"
#include "history/prune.h"
#include "history/selection_store.h"
#include "history/sql_console.h"
#include "history/stats.h"
#include "history/test_queries.h"
#include "sample.h"

namespace simrt::history {
namespace {

UnitFacts unit_of(std::uint64_t seed, const std::string& path) { return Sampler(seed).unit(path, 12); }

/// Covers block 0 of every function of the unit by main, and block 1 by two threads.
TestRun run_over(const std::string& name, const BlockNumbering& numbering, const UnitFacts& unit) {
  BlockSet alone, several;
  for (const FunctionFacts& function : unit.functions) {
    alone.add(*numbering.number({function.id, 0}));
    several.add(*numbering.number({function.id, 1}));
  }
  return test_run(name, alone, {}, several);
}

/// Records `unit` and one test over it, after `before` gave away some numbers.
RevisionId record(Database& database, const std::string& sha, const UnitFacts& unit, const std::string& test,
                  std::int64_t at, Shard shard = {}) {
  const RevisionId revision = begin(database, sha, at);
  ok(put_unit(database, revision, unit));
  const BlockNumbering numbering = ok(assign_block_numbers(database, unite({unit})));
  ok(put_run(database, revision, test_case(test), run_over(test, numbering, unit), at * 1000));
  ok(finish_revision(database, revision, shard));
  return revision;
}

RevisionId revision_of(Database& database, const std::string& sha) {
  return ok(find_revision(database, sha, "env")).value().id;
}

std::vector<std::vector<SqlValue>> rows(Database& database, const std::string& sql) {
  return ok(run_sql(database, sql)).rows;
}

TEST(Merge, AnnouncedTestsStayUntilSomeShardHasRunThem) {
  TempDir dir;
  const UnitFacts unit = unit_of(31, "a.cc");
  const std::vector<TestCase> all{test_case("t1"), test_case("t2"), test_case("t3")};
  Database target = create(dir.file("target.db"));
  ok(announce_tests(target, begin(target, "one", 10), all));
  record(target, "one", unit, "t1", 10, {1, 2});
  const auto outcomes = [&] {
    std::vector<Outcome> found;
    for (const RecordedRun& run : ok(recorded_tests(target, revision_of(target, "one"))))
      found.push_back(run.last.outcome);
    return found;
  };
  EXPECT_EQ(outcomes(), (std::vector{Outcome::Passed, Outcome::NotRun, Outcome::NotRun}));
  {
    Database source = create(dir.file("source.db"));
    ok(announce_tests(source, begin(source, "one", 11), all));
    record(source, "one", unit, "t2", 11, {2, 2});
  }
  ok(merge(target, dir.file("source.db")));
  EXPECT_EQ(outcomes(), (std::vector{Outcome::Passed, Outcome::Passed, Outcome::NotRun}));
  EXPECT_EQ(rows(target, "SELECT * FROM v_runs WHERE outcome = 'not-run'").size(), 1U);
  EXPECT_EQ(ok(merge(target, dir.file("source.db"))), MergeReport{});
}

TEST(Merge, TheLaterChangeOfASuiteCounts) {
  TempDir dir;
  const UnitFacts unit = unit_of(31, "a.cc");
  const std::vector<TestCase> both{test_case("stays"), test_case("goes")}, one{test_case("stays")};
  const auto record_both = [&](Database& database) {
    record(database, "one", unit, "stays", 10);
    record(database, "one", unit, "goes", 10);
  };
  const auto suite = [&](Database& database) {
    return ok(recorded_tests(database, revision_of(database, "one"))).size();
  };
  Database older = create(dir.file("older.db")), narrowed = create(dir.file("narrowed.db"));
  record_both(older);
  record_both(narrowed);
  ok(narrow_suite(narrowed, revision_of(narrowed, "one"), one));
  ok(merge(narrowed, dir.file("older.db")));
  EXPECT_EQ(suite(narrowed), 1U);
  ok(merge(older, dir.file("narrowed.db")));
  EXPECT_EQ(suite(older), 1U);

  ok(announce_tests(older, revision_of(older, "one"), both));  // found again
  EXPECT_EQ(suite(older), 2U);
  ok(merge(older, dir.file("narrowed.db")));
  EXPECT_EQ(suite(older), 2U);
  ok(merge(narrowed, dir.file("older.db")));
  EXPECT_EQ(suite(narrowed), 2U);
}

TEST(Merge, TranslatesBlockNumbersAndIsIdempotent) {
  TempDir dir;
  const UnitFacts first = unit_of(31, "a.cc"), second = unit_of(32, "b.cc");
  Database target = create(dir.file("target.db"));
  record(target, "one", first, "t1", 10);
  {
    Database source = create(dir.file("source.db"));
    record(source, "two", second, "t2", 20);  // these blocks have the numbers that the target gave to a.cc
    record(source, "one", first, "t3", 11);
    Impact impact;
    impact.accesses.resize(2);
    impact.pairs = {{0, 1}};
    ok(put_selection(source, {revision_of(source, "two"), "x", Technique::SimRT, 5}, impact, {},
                     unite({second})));
  }
  const MergeReport report = ok(merge(target, dir.file("source.db")));
  EXPECT_EQ(report.revisions, 1U);
  EXPECT_EQ(report.runs, 2U);
  EXPECT_EQ(report.tests, 2U);
  EXPECT_EQ(report.units, 1U);
  EXPECT_EQ(report.function_versions, 12U);
  EXPECT_EQ(report.selections, 1U);
  EXPECT_EQ(report.coverages, 1U);  // t3 covers what t1 covers

  const RevisionId two = revision_of(target, "two");
  const Program program = ok(load_program(target, two));
  expect_same_program(program, unite({second}));
  const BlockNumbering numbering = ok(load_block_numbers(target, program));
  const auto recorded = ok(recorded_tests(target, two));
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_TRUE(same_coverage(recorded[0].last.coverage, run_over("t2", numbering, second).coverage));
  EXPECT_NE(numbering.ranges().front().base, 0U);
  EXPECT_EQ(ok(recorded_tests(target, revision_of(target, "one"))).size(), 2U);
  EXPECT_EQ(ok(selection_pairs(target, {})).size(), 1U);

  const Stats before = ok(stats(target));
  EXPECT_EQ(ok(merge(target, dir.file("source.db"))), MergeReport{});
  const Stats after = ok(stats(target));
  EXPECT_EQ(after.runs, before.runs);
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.units, before.units);
  ok(target.verify());
}

TEST(Merge, ShardsCompleteARevisionInAnyOrder) {
  for (const bool reversed : {false, true}) {
    TempDir dir;
    const UnitFacts unit = unit_of(33, "a.cc");
    for (const std::uint32_t shard : {1U, 2U, 3U}) {
      Database database = create(dir.file("shard" + std::to_string(shard)));
      record(database, "one", unit, "t" + std::to_string(shard), 10 + shard, {shard, 3});
    }
    Database target = create(dir.file("target.db"));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(i == 0 || !ok(find_revision(target, "one", "env"))->complete);
      ok(merge(target, dir.file("shard" + std::to_string(reversed ? 3 - i : 1 + i))));
    }
    EXPECT_TRUE(ok(find_revision(target, "one", "env"))->complete);
    EXPECT_EQ(ok(find_revision(target, "one", "env"))->recorded_at, 13);
    EXPECT_EQ(ok(recorded_tests(target, revision_of(target, "one"))).size(), 3U);
    EXPECT_EQ(ok(revision_units(target, revision_of(target, "one"))).size(), 1U);
  }
}

TEST(Merge, ADamagedSourceChangesNothing) {
  TempDir dir;
  Database target = create(dir.file("target.db"));
  {
    Database source = create(dir.file("source.db"));
    record(source, "two", unit_of(34, "b.cc"), "t2", 20);
    const RevisionId revision = revision_of(source, "two");
    ok(put_run(source, revision, test_case("t9"), test_run("t9", block_set({4'000'000}), {}, {}),
               1));  // no such block
  }
  const auto merged = merge(target, dir.file("source.db"));
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::History);
  EXPECT_EQ(ok(stats(target)).runs, 0U);
  EXPECT_EQ(ok(stats(target)).revisions, 0U);

  EXPECT_EQ(merge(target, dir.file("missing.db")).error().code, ErrorCode::History);
  EXPECT_EQ(merge(target, dir.file("target.db")).error().code, ErrorCode::Usage);
}

TEST(Prune, KeepsWhatIsReferenced) {
  TempDir dir;
  Database database = create(dir.file());
  const UnitFacts shared = unit_of(41, "a.cc");
  const RevisionId oldest = record(database, "r1", unit_of(40, "old.cc"), "gone", 100);
  ok(put_unit(database, oldest, shared));
  ok(put_mapping(database, "old", "m", 50));
  ok(put_mapping(database, "new", "m", 250));
  record(database, "r2", shared, "kept", 200);
  record(database, "r3", shared, "kept", 300);
  ok(put_selection(database, {oldest, "x", Technique::SimRT, 5}, {}, {}, {}));
  EXPECT_EQ(ok(narrow_suite(database, oldest, {test_case("other")})), 1U);
  const Program program = ok(load_program(database, revision_of(database, "r2")));
  const BlockNumbering numbering = ok(load_block_numbers(database, program));

  EXPECT_EQ(ok(prune(database, {0, 0, 1000, false})).revisions, 0U);  // no limit, nothing to do
  const PruneReport report = ok(prune(database, {2, 0, 1000, true}));
  EXPECT_EQ(report.revisions, 1U);
  EXPECT_EQ(report.units, 1U);
  EXPECT_EQ(report.function_versions, 12U);
  EXPECT_EQ(report.runs, 1U);
  EXPECT_EQ(report.coverages, 1U);
  EXPECT_EQ(report.selections, 1U);
  EXPECT_EQ(report.mappings, 1U);
  EXPECT_LE(report.bytes_after, report.bytes_before);
  EXPECT_FALSE(ok(find_revision(database, "r1", "env")).has_value());
  expect_same_program(ok(load_program(database, revision_of(database, "r2"))), program);
  EXPECT_EQ(ok(load_block_numbers(database, program)).ranges(), numbering.ranges());
  EXPECT_EQ(ok(load_points(database, revision_of(database, "r3"))).size(), 12U);
  EXPECT_TRUE(ok(recorded_tests(database, revision_of(database, "r2")))[0].last.has_coverage);
  EXPECT_EQ(rows(database, "SELECT test FROM v_tests").size(), 1U);
  ok(database.verify());

  // Numbers are never given away again.
  const BlockNumbering fresh = ok(assign_block_numbers(database, unite({unit_of(42, "new.cc")})));
  EXPECT_GT(fresh.ranges().front().base, numbering.ranges().back().base);
}

TEST(Prune, ByAgeKeepsTheNewestAndTheNewestCompleteOfEachEnvironment) {
  TempDir dir;
  Database database = create(dir.file());
  for (const std::string environment : {"gcc", "clang"}) {
    for (int i = 1; i <= 4; ++i) {
      const RevisionId revision = begin(database, "r" + std::to_string(i), 100 * i, environment);
      if (i <= 2) ok(finish_revision(database, revision));
    }
  }
  EXPECT_EQ(ok(prune(database, {0, 10, 100'000, true})).revisions, 4U);
  for (const std::string environment : {"gcc", "clang"}) {
    EXPECT_TRUE(ok(find_revision(database, "r4", environment)).has_value());
    EXPECT_TRUE(ok(find_revision(database, "r2", environment)).has_value());
  }
}

TEST(Prune, AReusedRunOutlivesItsOrigin) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId first = begin(database, "one", 10), second = begin(database, "two", 20);
  const TestRun run = test_run("t", block_set({1, 2}), {}, {});
  const RunId original = ok(put_run(database, first, test_case("t"), run, 10));
  ok(reuse_run(database, second, test_case("t"), original, 20));
  EXPECT_EQ(ok(prune(database, {1, 0, 100, true})).revisions, 1U);
  const auto recorded = ok(recorded_tests(database, second));
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_TRUE(recorded[0].reused);
  EXPECT_TRUE(same_coverage(recorded[0].last.coverage, run.coverage));
  EXPECT_TRUE(ok(flaky_tests(database)).empty());
}

}  // namespace
}  // namespace simrt::history
