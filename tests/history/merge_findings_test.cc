// Findings in merges, prunes and exports: what one machine proved, all know, whatever the order.
#include <gtest/gtest.h>

#include <algorithm>

#include "history/export.h"
#include "history/finding_store.h"
#include "history/merge.h"
#include "history/prune.h"
#include "history/sql_console.h"
#include "sample.h"

namespace simrt::history {
namespace {

constexpr std::uint64_t kRace = 0xfedcba9876543210ULL, kOther = 7;

FindingRecord record(std::uint64_t id, FindingStatus status, Harm harm, const std::string& detail) {
  return {id, FindingKind::Race, status, harm, "x", "race on x", detail};
}

CheckRunId begin_at(Database& database, std::int64_t at, const std::string& head = "h") {
  CheckRun run;
  run.head = head;
  run.started_at = at;
  run.seed = static_cast<std::uint64_t>(at);
  run.detector = "builtin";
  return ok(begin_check(database, run));
}

/// All that a report of the history could show, in an order of its own.
std::vector<std::string> exported(Database& database) {
  std::vector<std::string> lines;
  ok(export_views(database, {"v_check_runs", "v_findings", "v_sightings"},
                  [&](std::string_view line) -> Status {
                    // Row numbers belong to one database.
                    std::string text(line);
                    if (const auto at = text.find("\"check_run\":"); at != std::string::npos) {
                      auto end = at + 12;
                      while (end < text.size() && text[end] != ',' && text[end] != '}') ++end;
                      text.erase(at, end - at);
                    }
                    lines.push_back(text);
                    return {};
                  }));
  const auto rest =
      ok(run_sql(database,
                 "SELECT w.id || w.test || w.plan || c.head FROM witness w JOIN check_run c ON c.id = "
                 "w.check_run UNION ALL SELECT fingerprint || reason || expires_at FROM suppression UNION "
                 "ALL SELECT test || executions FROM checked_test"));
  for (const auto& row : rest.rows) lines.push_back(std::get<std::string>(row[0]));
  std::sort(lines.begin(), lines.end());
  return lines;
}

class MergeFindings : public testing::Test {
 protected:
  TempDir directory_;
  std::string a_ = directory_.file("a.db").string(), b_ = directory_.file("b.db").string();

  void SetUp() override {
    Database a = create(a_);
    const CheckRunId run = begin_at(a, 100, "a");
    ok(put_finding(a, run, record(kRace, FindingStatus::Confirmed, Harm::NoDifferenceSeen, "proof of a"),
                   {"t1"}));
    ok(put_witness(a, run, kRace, {"w1", "t1", 9, 3, "abort", "old plan"}));
    ok(put_checked_test(a, run, {"t1", 42, 1.5, ""}));
    ok(put_suppression(a, {kOther, "first", 10, 500}));
    ok(finish_check(a, run, 2, true));
    Database b = create(b_);
    begin_at(b, 50, "earlier");  // row numbers differ
    const CheckRunId later = begin_at(b, 200, "b");
    ok(put_finding(b, later, record(kRace, FindingStatus::Potential, Harm::Unknown, "hint of b"), {"t2"}));
    ok(put_finding(b, later, record(kOther, FindingStatus::Confirmed, Harm::Shown, "other"), {"t2"}));
    ok(put_witness(b, later, kOther, {"w2", "t2", 9, 3, "abort", "other plan"}));
    ok(put_finding(b, later, record(kRace, FindingStatus::Confirmed, Harm::Shown, "proof of b"), {"t1"}));
    ok(put_witness(b, later, kRace, {"w1", "t1", 8, 2, "abort", "new plan"}));
    ok(put_suppression(b, {kOther, "second", 20, 400}));
  }
};

TEST_F(MergeFindings, IsTheSameInAnyOrderAndDoneOnce) {
  Database one = create(directory_.file("1.db")), two = create(directory_.file("2.db"));
  const MergeReport first = ok(merge(one, a_)), second = ok(merge(one, b_));
  EXPECT_EQ(first.check_runs, 1U);
  EXPECT_EQ(first.findings, 1U);
  EXPECT_EQ(second.check_runs, 2U);
  EXPECT_EQ(second.findings, 1U);
  ok(merge(two, b_));
  ok(merge(two, a_));
  const auto all = exported(one);
  EXPECT_EQ(all, exported(two));
  EXPECT_EQ(ok(merge(one, b_)), MergeReport());
  EXPECT_EQ(exported(one), all);
  EXPECT_EQ(ok(find_witness(one, "w1"))->plan, "new plan");
  EXPECT_EQ(ok(suppressions(one)).at(0).reason, "second");
  for (const KnownFinding& known : ok(known_findings(one))) {
    EXPECT_EQ(known.record.status, FindingStatus::Confirmed);
    EXPECT_EQ(known.record.harm, Harm::Shown);
    if (known.record.fingerprint == kRace) {
      EXPECT_EQ(known.record.detail, "proof of b");
      EXPECT_EQ(known.sightings, 3U);
    }
  }
}

TEST_F(MergeFindings, ARunThatWentOnIsCompleted) {
  Database target = create(directory_.file("t.db"));
  ok(merge(target, b_));
  {
    Database b = ok(Database::open(b_, {OpenMode::ReadWrite, {}}));
    const auto last = ok(run_sql(b, "SELECT max(check_run) FROM v_check_runs"));
    ok(finish_check(b, CheckRunId{std::get<std::int64_t>(last.rows[0][0])}, 9, true));
  }
  ok(merge(target, b_));
  const auto runs =
      ok(run_sql(target, "SELECT count(*) FROM v_check_runs WHERE complete = 1 AND seconds = 9"));
  EXPECT_EQ(std::get<std::int64_t>(runs.rows[0][0]), 1);
}

TEST_F(MergeFindings, PruningKeepsWhatMakesAProvenBugKnown) {
  Database database = create(directory_.file("p.db"));
  const CheckRunId first = begin_at(database, 100), second = begin_at(database, 200),
                   third = begin_at(database, 300), last = begin_at(database, 10000);
  ok(put_checked_test(database, first, {"t", 1, 1, ""}));
  ok(put_finding(database, first, record(kRace, FindingStatus::Confirmed, Harm::Shown, "proof"), {"t"}));
  ok(put_witness(database, first, kRace, {"w1", "t", 9, 3, "abort", "{}"}));
  ok(put_finding(database, second, record(kRace, FindingStatus::Confirmed, Harm::Shown, "proof"), {"t"}));
  ok(put_witness(database, second, kRace, {"w2", "t", 9, 3, "abort", "{}"}));
  ok(put_finding(database, third, record(kOther, FindingStatus::Potential, Harm::Unknown, "hint"), {"t"}));
  ok(put_suppression(database, {1, "long gone", 1, 50}));
  ok(put_suppression(database, {2, "for ever", 1, 99999}));
  const PruneReport report = ok(prune(database, {0, 5000, 10000, false}));
  EXPECT_EQ(report.check_runs, 2U) << "the first one and the third one";
  EXPECT_EQ(report.findings, 1U) << "what was only ever a hint";
  const auto known = ok(known_findings(database));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].record.status, FindingStatus::Confirmed);
  EXPECT_EQ(known[0].last_seen, 200);
  EXPECT_EQ(known[0].witness, "w2");
  EXPECT_FALSE(ok(find_witness(database, "w1")).has_value());
  EXPECT_EQ(ok(suppressions(database)).size(), 1U);
  EXPECT_EQ(ok(run_sql(database, "SELECT * FROM v_check_runs")).rows.size(), 2U);
  (void)last;
  const PruneReport again = ok(prune(database, {0, 5000, 10000, false}));
  EXPECT_EQ(again.check_runs + again.findings, 0U);
}

TEST_F(MergeFindings, PruningByRevisionsLeavesChecksAlone) {
  Database b = ok(Database::open(b_, {OpenMode::ReadWrite, {}}));
  const auto before = exported(b);
  ok(prune(b, {1, 0, 10000, false}));
  EXPECT_EQ(exported(b), before);
}

}  // namespace
}  // namespace simrt::history
