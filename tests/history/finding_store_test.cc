#include "history/finding_store.h"

#include <gtest/gtest.h>

#include "history/sql_console.h"
#include "sample.h"

namespace simrt::history {
namespace {

class FindingStore : public testing::Test {
 private:
  TempDir directory_;

 protected:
  Database database_ = ok(Database::open(directory_.path() / "h.db", {OpenMode::Create, {}}));

  CheckRunId begin(std::int64_t at) {
    CheckRun run;
    run.head = "head" + std::to_string(at);
    run.started_at = at;
    run.seed = 7;
    run.detector = "builtin";
    return ok(begin_check(database_, run));
  }
  static FindingRecord record(FindingStatus status, const std::string& detail) {
    return {0xfedcba9876543210ULL, FindingKind::Race, status, Harm::Unknown, "x", "race on x", detail};
  }
};

TEST_F(FindingStore, AConfirmedFindingStaysConfirmedAndKeepsItsDetail) {
  const CheckRunId first = begin(100), second = begin(200);
  ok(put_finding(database_, first, record(FindingStatus::Confirmed, "proof"), {"t1"}));
  ok(put_finding(database_, second, record(FindingStatus::Potential, "hint"), {"t2"}));
  const auto known = ok(known_findings(database_));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].record.status, FindingStatus::Confirmed);
  EXPECT_EQ(known[0].record.detail, "proof");
  EXPECT_EQ(known[0].record.fingerprint, 0xfedcba9876543210ULL);
  EXPECT_EQ(known[0].sightings, 2U);
  EXPECT_EQ(known[0].last_seen, 200);
  EXPECT_EQ(known[0].last_head, "head200");
  EXPECT_EQ(known[0].tests, std::vector<std::string>{"t2"});
}

TEST_F(FindingStore, APotentialOneIsRaised) {
  const CheckRunId run = begin(100);
  ok(put_finding(database_, run, record(FindingStatus::Potential, "hint"), {"t"}));
  ok(put_finding(database_, run, record(FindingStatus::Confirmed, "proof"), {"t"}));
  const auto known = ok(known_findings(database_));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].record.status, FindingStatus::Confirmed);
  EXPECT_EQ(known[0].record.detail, "proof");
}

TEST_F(FindingStore, TwoRunsOfTheSameSecondAreTwo) {
  const CheckRunId first = begin(100), second = begin(100);
  EXPECT_NE(first, second);
}

TEST_F(FindingStore, WitnessesAreFoundByAPrefixThatFitsOne) {
  const CheckRunId run = begin(100);
  ok(put_finding(database_, run, record(FindingStatus::Confirmed, ""), {"t"}));
  for (const char* id : {"abc1", "abd2"})
    ok(put_witness(database_, run, 0xfedcba9876543210ULL, {id, "t", 9, 3, "abort", "{}"}));
  EXPECT_EQ(ok(find_witness(database_, "abc"))->id, "abc1");
  EXPECT_EQ(ok(find_witness(database_, "abd"))->switches, 3U);
  EXPECT_FALSE(ok(find_witness(database_, "ab")).has_value());
  EXPECT_FALSE(ok(find_witness(database_, "x")).has_value());
  EXPECT_FALSE(put_witness(database_, run, 1, {"e", "t", 9, 3, "abort", "{}"}).has_value())
      << "of a finding that is not kept";
}

TEST_F(FindingStore, SuppressionsAreReplaced) {
  ok(put_suppression(database_, {5, "later", 10, 20}));
  ok(put_suppression(database_, {5, "much later", 10, 30}));
  const auto all = ok(suppressions(database_));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].reason, "much later");
  EXPECT_EQ(all[0].expires_at, 30);
}

TEST_F(FindingStore, ViewsTellTheStory) {
  const CheckRunId run = begin(100);
  ok(put_finding(database_, run, record(FindingStatus::Confirmed, "{}"), {"t"}));
  ok(put_checked_test(database_, run, {"t", 42, 1.5, ""}));
  ok(finish_check(database_, run, 2.5, true));
  const auto findings = ok(run_sql(database_, "SELECT finding, kind, status FROM v_findings", {10, 60}));
  ASSERT_EQ(findings.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(findings.rows[0][0]), "fedcba9876543210");
  EXPECT_EQ(std::get<std::string>(findings.rows[0][2]), "confirmed");
  const auto runs =
      ok(run_sql(database_, "SELECT executions, confirmed, complete FROM v_check_runs", {10, 60}));
  ASSERT_EQ(runs.rows.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(runs.rows[0][0]), 42);
  EXPECT_EQ(std::get<std::int64_t>(runs.rows[0][1]), 1);
  EXPECT_EQ(ok(run_sql(database_, "SELECT * FROM v_sightings", {10, 60})).rows.size(), 1U);
}

}  // namespace
}  // namespace simrt::history
