#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "history/block_numbers.h"
#include "history/export.h"
#include "history/facts_store.h"
#include "history/selection_store.h"
#include "history/sql_console.h"
#include "history/stats.h"
#include "history/test_queries.h"
#include "sample.h"

namespace simrt::history {
namespace {

/// One unit with three functions of known shape, three tests, and one selection.
class Queries : public testing::Test {
 protected:
  static FunctionFacts function(const std::string& usr, const std::string& name, std::uint32_t line,
                                std::uint32_t blocks) {
    FunctionFacts facts;
    facts.id = function_id(usr);
    facts.usr = usr;
    facts.name = name;
    facts.file = "db/db.cc";
    facts.begin_line = line;
    facts.end_line = line + 2 * blocks;
    facts.body = facts.id.value + 1;
    for (std::uint32_t i = 0; i < blocks; ++i) facts.blocks.push_back({i, 0, {}, {}});
    return facts;
  }

  void SetUp() override {
    UnitFacts unit;
    unit.path = "db/db.cc";
    unit.files = {{"db/db.cc", 1, 1}};
    unit.functions = {function("get", "db::DB::Get(const Key &)", 10, 3),
                      function("put", "db::DB::Put(Key)", 20, 2),
                      function("anon", "(anonymous namespace)::Helper", 30, 2)};
    for (const FunctionFacts& facts : unit.functions) {
      FunctionPoints points{facts.id, {}};
      for (const Block& block : facts.blocks)
        points.blocks.push_back({block.ordinal, {{facts.begin_line + 2 * block.ordinal, 5}}});
      unit.points.push_back(points);
    }
    revision_ = begin(database_, "abc");
    ok(put_unit(database_, revision_, unit));
    program_ = unite({unit});
    const BlockNumbering numbering = ok(assign_block_numbers(database_, program_));
    const auto at = [&](const char* usr, std::uint32_t ordinal) {
      return *numbering.number({function_id(usr), ordinal});
    };

    put(test_run("one-thread", block_set({at("get", 0), at("get", 1), at("put", 0)}), {}, {}), 1000);
    put(test_run("two-threads", block_set({at("get", 0)}), block_set({at("get", 1)}), {}), 2000);
    put(test_run("several", {}, {}, block_set({at("get", 1), at("anon", 0)})), 3000);
    TestRun failed = test_run("two-threads", block_set({at("get", 0)}), block_set({at("get", 1)}), {});
    failed.outcome = Outcome::TimedOut;
    failed.seconds = 9;
    put(failed, 2500);
    ok(finish_revision(database_, revision_));
  }

  void put(const TestRun& run, std::int64_t at) {
    static const std::map<std::uint64_t, std::string> kNames = [] {
      std::map<std::uint64_t, std::string> names;
      for (const char* name : {"one-thread", "two-threads", "several"}) names[test_id(name).value] = name;
      return names;
    }();
    ok(put_run(database_, revision_, test_case(kNames.at(run.test.value)), run, at));
  }

  std::vector<std::string> covering(const PlaceBlocks& place, std::uint32_t threads = 1) {
    std::vector<std::string> names;
    for (const CoveringTest& test : ok(tests_covering(database_, revision_, place.blocks, threads)))
      names.push_back(test.test);
    return names;
  }

  SqlTable sql(const std::string& text) { return ok(run_sql(database_, text)); }

  TempDir dir_;
  Database database_ = create(dir_.file());
  RevisionId revision_;
  Program program_;
};

using Names = std::vector<std::string>;

TEST_F(Queries, TestsThatCoverALine) {
  const PlaceBlocks first = ok(blocks_at_line(database_, revision_, "db/db.cc", 10));
  EXPECT_TRUE(first.exact);
  EXPECT_EQ(first.functions, Names{"db::DB::Get(const Key &)"});
  EXPECT_EQ(covering(first), (Names{"one-thread", "two-threads"}));
  const PlaceBlocks second = ok(blocks_at_line(database_, revision_, "db/db.cc", 12));
  EXPECT_EQ(covering(second), (Names{"one-thread", "several", "two-threads"}));
  EXPECT_EQ(covering(second, 2), Names{"several"});
}

TEST_F(Queries, ALineWithoutCodeTakesItsFunction) {
  const PlaceBlocks place = ok(blocks_at_line(database_, revision_, "db/db.cc", 11));
  EXPECT_FALSE(place.exact);
  EXPECT_EQ(place.blocks.cardinality(), 3U);
  EXPECT_EQ(covering(place, 2), (Names{"several", "two-threads"}));
  EXPECT_TRUE(ok(blocks_at_line(database_, revision_, "db/db.cc", 99)).functions.empty());
  EXPECT_TRUE(ok(blocks_at_line(database_, revision_, "other.cc", 10)).functions.empty());
}

TEST_F(Queries, FunctionsAreFoundByAnyOfTheirNames) {
  for (const char* name : {"db::DB::Get(const Key &)", "db::DB::Get", "DB::Get", "Get", "Get(const Key &)"})
    EXPECT_EQ(ok(blocks_of_function(database_, revision_, name)).functions, Names{"db::DB::Get(const Key &)"})
        << name;
  EXPECT_EQ(ok(blocks_of_function(database_, revision_, "Helper")).functions,
            Names{"(anonymous namespace)::Helper"});
  EXPECT_TRUE(ok(blocks_of_function(database_, revision_, "et")).functions.empty());
  EXPECT_TRUE(ok(blocks_of_function(database_, revision_, "db::DB")).functions.empty());
}

TEST_F(Queries, CoverageOfATestByFunctionAndThread) {
  const CoverageReport report = ok(coverage_of_test(database_, revision_, test_id("two-threads")));
  ASSERT_EQ(report.functions.size(), 1U);
  EXPECT_EQ(report.blocks, 2U);
  EXPECT_EQ(report.functions[0].file, "db/db.cc");
  EXPECT_EQ(report.functions[0].function, "db::DB::Get(const Key &)");
  EXPECT_EQ(report.functions[0].covered, 2U);
  EXPECT_EQ(report.functions[0].total, 3U);
  ASSERT_EQ(report.functions[0].threads.size(), 2U);
  EXPECT_EQ(report.functions[0].threads[0], (std::pair<std::string, std::uint32_t>{"main", 1}));
  EXPECT_EQ(coverage_of_test(database_, revision_, test_id("nobody")).error().code, ErrorCode::Usage);
}

TEST_F(Queries, RunsSlowAndFlaky) {
  const auto all = ok(runs(database_, "", 100));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].test, "several");
  EXPECT_EQ(all[0].sha, "abc");
  EXPECT_EQ(ok(runs(database_, "two-threads", 100)).size(), 2U);
  EXPECT_EQ(ok(runs(database_, "two-threads", 1))[0].outcome, Outcome::TimedOut);

  const auto slow = ok(slow_tests(database_, 2));
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].test, "two-threads");
  EXPECT_EQ(slow[0].runs, 2U);
  EXPECT_DOUBLE_EQ(slow[0].max_seconds, 9);
  EXPECT_DOUBLE_EQ(slow[0].last_seconds, 9);

  const auto flaky = ok(flaky_tests(database_));
  ASSERT_EQ(flaky.size(), 1U);
  EXPECT_EQ(flaky[0].test, "two-threads");
  EXPECT_EQ(flaky[0].passed, 1U);
  EXPECT_EQ(flaky[0].failed, 1U);
}

TEST_F(Queries, AnotherOutcomeOfAnotherExecutableIsNotFlaky) {
  TestRun failed = test_run("several", {}, {}, {});
  failed.outcome = Outcome::Failed;
  failed.executable = 43;
  put(failed, 4000);
  EXPECT_EQ(ok(flaky_tests(database_)).size(), 1U);
}

TEST_F(Queries, SelectionsAndTheirPairs) {
  Impact impact;
  SharedAccess write;
  write.function = function_id("put");
  write.file = "db/db.cc";
  write.at = {21, 4};
  write.mode = AccessMode::Write;
  write.impacted = true;
  write.rule = ImpactRule::SyncChanged;
  write.cause = "lock mu_ no longer held";
  SharedAccess read = write;
  read.impacted = false;
  read.rule = ImpactRule::NotImpacted;
  read.mode = AccessMode::Read;
  read.function = function_id("get");
  impact.accesses = {read, write};
  impact.pairs = {{0, 1}, {1, 1}};
  Selection selection;
  selection.uncovered = {1};
  Decision run, skip;
  run.test = test_id("several");
  run.run = true;
  run.rank = 1;
  run.reasons = {{ReasonKind::Pair, 0, "main", "several", "covers pair 0"}};
  skip.test = test_id("one-thread");
  selection.decisions = {run, skip};

  EXPECT_TRUE(ok(selection_pairs(database_, {})).empty());
  const SelectionId id =
      ok(put_selection(database_, {revision_, "def", Technique::SimRTN, 77}, impact, selection, program_));
  const auto summaries = ok(selections(database_, 10));
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].base, "abc");
  EXPECT_EQ(summaries[0].technique, "simrt-n");
  EXPECT_EQ(summaries[0].tests, 2U);
  EXPECT_EQ(summaries[0].selected, 1U);
  EXPECT_EQ(summaries[0].uncovered, 1U);

  const auto pairs = ok(selection_pairs(database_, {id, false, 10}));
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].first.function, "db::DB::Get(const Key &)");
  EXPECT_EQ(pairs[0].second.mode, AccessMode::Write);
  EXPECT_EQ(pairs[0].rule, "sync-changed");  // of the impacted one
  EXPECT_EQ(pairs[0].cause, "lock mu_ no longer held");
  const auto uncovered = ok(selection_pairs(database_, {std::nullopt, true, 10}));
  ASSERT_EQ(uncovered.size(), 1U);
  EXPECT_EQ(uncovered[0].pair, 1U);
  EXPECT_EQ(sql("SELECT * FROM v_decisions").rows.size(), 1U);
  EXPECT_EQ(sql("SELECT 1 FROM v_pairs WHERE covered = 0").rows.size(), 1U);
}

// `select` runs at every push: what it stores must not grow with the pairs, nor for ever.
TEST_F(Queries, StoredSelectionsAreBounded) {
  Impact impact;
  SharedAccess write;
  write.function = function_id("put");
  write.mode = AccessMode::Write;
  write.impacted = true;
  impact.accesses = {write, write};
  Selection selection;
  for (std::uint32_t pair = 0; pair < 3000; ++pair) {
    impact.pairs.push_back({0, pair >= 1400 && pair < 1500 ? 1u : 0u});
    if (pair >= 1500) selection.uncovered.push_back(pair);
  }
  const SelectionRecord record{revision_, "def", Technique::SimRT, 77};
  const SelectionId first = ok(put_selection(database_, record, impact, selection, program_));
  EXPECT_EQ(ok(selections(database_, 1)).at(0).pairs, 3000U);
  EXPECT_EQ(ok(selection_pairs(database_, {first, false, 100000})).size(), 2000U);
  const auto uncovered = ok(selection_pairs(database_, {first, true, 100000}));
  ASSERT_EQ(uncovered.size(), 1000U);
  EXPECT_EQ(uncovered[0].pair, 1500U);
  EXPECT_EQ(sql("SELECT ordinal FROM selection_access").rows.size(), 1U) << "the other is in no stored pair";

  impact.pairs = {{0, 0}};
  selection.uncovered.clear();
  SelectionId last;
  for (int i = 0; i < 10; ++i) last = ok(put_selection(database_, record, impact, selection, program_));
  EXPECT_TRUE(ok(selection_pairs(database_, {first, false, 10})).empty());
  EXPECT_EQ(ok(selection_pairs(database_, {last, false, 10})).size(), 1U);
  EXPECT_EQ(ok(selections(database_, 100)).size(), 11U);
  EXPECT_EQ(sql("SELECT * FROM selection_pair").rows.size(), 10U);
  EXPECT_EQ(sql("SELECT * FROM selection_access").rows.size(), 10U);
}

TEST_F(Queries, ViewsAnswer) {
  EXPECT_EQ(std::get<std::string>(
                sql("SELECT thread FROM v_coverage_functions WHERE test = 'several' AND name LIKE "
                    "'%Helper'")
                    .rows.at(0)
                    .at(0)),
            "several");
  const SqlTable covered =
      sql("SELECT test, blocks_covered, blocks_total FROM v_coverage_functions WHERE name LIKE '%Get%' AND "
          "thread = 'main' "
          "ORDER BY run");
  ASSERT_EQ(covered.rows.size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(covered.rows[0][1]), 2);
  EXPECT_EQ(std::get<std::int64_t>(covered.rows[0][2]), 3);
  const SqlTable functions = sql("SELECT name, begin_line, end_line FROM v_functions ORDER BY begin_line");
  ASSERT_EQ(functions.rows.size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(functions.rows[1][1]), 20);
  EXPECT_EQ(std::get<std::int64_t>(functions.rows[1][2]), 24);
  EXPECT_EQ(sql("SELECT * FROM v_latest_runs").rows.size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(sql("SELECT failures FROM v_tests WHERE test = 'two-threads'").rows[0][0]),
            1);
}

TEST_F(Queries, SqlOnlyReads) {
  for (const char* text :
       {"DELETE FROM run", "DROP VIEW v_tests", "INSERT INTO environment VALUES (9, 'x', 'y')",
        "PRAGMA user_version = 3", "ATTACH '/tmp/other.db' AS other", "BEGIN IMMEDIATE",
        "VACUUM INTO '/tmp/simrt-stolen.db'", "SELECT load_extension('x')", "SELECT 1; DELETE FROM run",
        "CREATE TEMP TABLE t(a)", "", "  ;  ", "SELECT nothing FROM nowhere",
        "WITH x AS (SELECT 1) DELETE FROM run"}) {
    const auto result = run_sql(database_, text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::Usage) << text;
  }
  EXPECT_EQ(sql("SELECT * FROM run").rows.size(), 4U);
  EXPECT_EQ(sql("SELECT 1 ;\n").rows.size(), 1U);
  ok(put_run(database_, revision_, test_case("several"), test_run("several", {}, {}, {}),
             9000));  // the fence is gone
}

TEST_F(Queries, SqlKeepsTypesAndLimits) {
  const SqlTable table = sql("SELECT 1 AS a, 2.5 AS b, NULL AS c, 'x' AS d, x'00ff' AS e");
  EXPECT_EQ(table.columns, (Names{"a", "b", "c", "d", "e"}));
  const std::vector<SqlValue> expected = {std::int64_t{1}, 2.5, std::monostate{}, std::string("x"),
                                          SqlBlob{std::string("\0\xff", 2)}};
  EXPECT_EQ(table.rows.at(0), expected);
  EXPECT_FALSE(table.truncated);
  const SqlTable cut = ok(run_sql(database_, "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", {2, 10}));
  EXPECT_EQ(cut.rows.size(), 2U);
  EXPECT_TRUE(cut.truncated);
  const auto endless = run_sql(
      database_, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
      {10, 0.05});
  ASSERT_FALSE(endless.has_value());
  EXPECT_NE(endless.error().message.find("too long"), std::string::npos);
}

TEST_F(Queries, ExportWritesEveryViewAsJsonLines) {
  std::map<std::string, int> lines;
  ok(export_views(database_, {}, [&](std::string_view line) -> Status {
    const auto json = nlohmann::json::parse(line);
    EXPECT_TRUE(json.at("row").is_object());
    ++lines[json.at("view")];
    return {};
  }));
  EXPECT_EQ(lines["v_runs"], 4);
  EXPECT_EQ(lines["v_latest_runs"], 3);
  EXPECT_EQ(lines["v_functions"], 3);
  EXPECT_EQ(lines["v_revisions"], 1);
  EXPECT_EQ(export_views(database_, {"run"}, [](std::string_view) -> Status { return {}; }).error().code,
            ErrorCode::Usage);
  int calls = 0;
  const Status stopped = export_views(database_, {"v_runs"}, [&](std::string_view) -> Status {
    ++calls;
    return fail(ErrorCode::Storage, "pipe closed");
  });
  EXPECT_EQ(stopped.error().message, "pipe closed");
  EXPECT_EQ(calls, 1);
}

TEST_F(Queries, EveryViewIsDocumentedWithItsColumns) {
  std::ifstream file(std::string(SIMRT_SOURCE_DIR) + "/db_schema/README.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const std::string& view : ok(view_names(database_))) {
    const auto at = text.find("| `" + view + "` |");
    ASSERT_NE(at, std::string::npos) << view;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    for (const std::string& column : sql("SELECT * FROM " + view + " LIMIT 0").columns)
      EXPECT_NE(line.find("`" + column + "`"), std::string::npos) << view << "." << column;
  }
}

TEST_F(Queries, StatsCount) {
  const Stats result = ok(stats(database_));
  EXPECT_EQ(result.revisions, 1U);
  EXPECT_EQ(result.functions, 3U);
  EXPECT_EQ(result.blocks, 7U);
  EXPECT_EQ(result.tests, 3U);
  EXPECT_EQ(result.runs, 4U);
  EXPECT_EQ(result.coverages, 3U);
  EXPECT_GT(result.file_bytes, result.coverage_bytes);
  EXPECT_GT(result.bytes_per_block, 0);
  EXPECT_DOUBLE_EQ(result.bytes_per_test, static_cast<double>(result.coverage_bytes) / 3);
}

}  // namespace
}  // namespace simrt::history
