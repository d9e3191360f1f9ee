#include "history/merge_findings.h"

#include "history/query.h"

namespace simrt::history {
namespace {

void merge_check_runs(Connection& from, Connection& to, RowMap& runs, MergeReport& report) {
  Query row(
      from,
      "SELECT id, uid, head, base, started_at, seconds, seed, detector, complete FROM check_run ORDER BY id");
  while (row.next()) {
    Query known(to, "SELECT id FROM check_run WHERE uid = ?", row.i64(1));
    if (known.next()) {
      runs.add(row.i64(0), known.i64(0));
      // The source may have gone on since the last merge.
      Query(to, "UPDATE check_run SET seconds = max(seconds, ?), complete = max(complete, ?) WHERE id = ?",
            row.real(5), row.i64(8), known.i64(0))
          .run();
      continue;
    }
    Query(to,
          "INSERT INTO check_run(uid, head, base, started_at, seconds, seed, detector, complete) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          row.i64(1), row.text(2), row.text(3), row.i64(4), row.real(5), row.i64(6), row.text(7), row.i64(8))
        .run();
    runs.add(row.i64(0), last_row(to));
    ++report.check_runs;
  }
  for (Query test(from, "SELECT check_run, test, executions, seconds, note FROM checked_test"); test.next();)
    Query(to,
          "INSERT OR IGNORE INTO checked_test(check_run, test, executions, seconds, note) VALUES (?, ?, ?, "
          "?, ?)",
          runs.at(test.i64(0)), test.text(1), test.i64(2), test.real(3), test.text(4))
        .run();
}

constexpr const char* kLastSeen =
    "(SELECT coalesce(max(c.started_at), 0) FROM sighting s JOIN check_run c ON c.id = s.check_run "
    "WHERE s.finding = f.id)";

void merge_known(Connection& from, Connection& to, RowMap& findings, MergeReport& report) {
  const std::string all = std::string(
                              "SELECT f.id, f.fingerprint, f.kind, f.status, f.harm, f.variable, f.title, "
                              "f.detail, ") +
                          kLastSeen + " FROM finding f ORDER BY f.id";
  const std::string one = std::string("SELECT f.id, f.status, ") + kLastSeen +
                          ", f.detail FROM finding f WHERE f.fingerprint = ?";
  for (Query row(from, all); row.next();) {
    Query known(to, one, row.i64(1));
    if (!known.next()) {
      Query(to,
            "INSERT INTO finding(fingerprint, kind, status, harm, variable, title, detail) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            row.i64(1), row.i64(2), row.i64(3), row.i64(4), row.text(5), row.text(6), row.text(7))
          .run();
      findings.add(row.i64(0), last_row(to));
      ++report.findings;
      continue;
    }
    const std::int64_t target = known.i64(0);
    findings.add(row.i64(0), target);
    const auto rank = [](std::int64_t status, std::int64_t seen, std::string detail) {
      return std::tuple(status, seen, std::move(detail));
    };
    const bool better =
        rank(row.i64(3), row.i64(8), row.text(7)) > rank(known.i64(1), known.i64(2), known.text(3));
    // Shown harm is never unlearnt; "no difference seen" says more than nothing.
    Query(to,
          "UPDATE finding SET status = max(status, ?1), "
          "harm = CASE WHEN harm = 1 OR ?2 = 1 THEN 1 ELSE max(harm, ?2) END WHERE id = ?3",
          row.i64(3), row.i64(4), target)
        .run();
    if (better) Query(to, "UPDATE finding SET detail = ? WHERE id = ?", row.text(7), target).run();
  }
}

void merge_sightings(Connection& from, Connection& to, const RowMap& runs, const RowMap& findings) {
  for (Query row(from, "SELECT finding, check_run, test, status FROM sighting"); row.next();)
    Query(to,
          "INSERT INTO sighting(finding, check_run, test, status) VALUES (?, ?, ?, ?) "
          "ON CONFLICT(finding, check_run, test) DO UPDATE SET status = max(status, excluded.status)",
          findings.at(row.i64(0)), runs.at(row.i64(1)), row.text(2), row.i64(3))
        .run();
  Query row(
      from,
      "SELECT w.id, w.finding, w.check_run, w.test, w.executable, w.switches, w.ending, w.plan, c.started_at "
      "FROM witness w JOIN check_run c ON c.id = w.check_run ORDER BY w.id");
  while (row.next()) {
    Query known(
        to,
        "SELECT c.started_at, w.plan FROM witness w JOIN check_run c ON c.id = w.check_run WHERE w.id = ?",
        row.text(0));
    if (known.next() && std::tuple(known.i64(0), known.text(1)) >= std::tuple(row.i64(8), row.text(7)))
      continue;
    Query(to,
          "INSERT OR REPLACE INTO witness(id, finding, check_run, test, executable, switches, ending, plan) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          row.text(0), findings.at(row.i64(1)), runs.at(row.i64(2)), row.text(3), row.i64(4), row.i64(5),
          row.text(6), row.text(7))
        .run();
  }
}

void merge_suppressions(Connection& from, Connection& to) {
  for (Query row(from, "SELECT fingerprint, reason, created_at, expires_at FROM suppression"); row.next();)
    Query(
        to,
        "INSERT INTO suppression(fingerprint, reason, created_at, expires_at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT(fingerprint) DO UPDATE SET reason = excluded.reason, created_at = excluded.created_at, "
        "expires_at = excluded.expires_at "
        "WHERE (excluded.created_at, excluded.expires_at, excluded.reason) > (created_at, expires_at, "
        "reason)",
        row.i64(0), row.text(1), row.i64(2), row.i64(3))
        .run();
}

}  // namespace

RowMap merge_findings(Connection& from, Connection& to, MergeReport& report) {
  RowMap runs("a check"), findings("a finding");
  merge_check_runs(from, to, runs, report);
  merge_known(from, to, findings, report);
  merge_sightings(from, to, runs, findings);
  merge_suppressions(from, to);
  return runs;
}

}  // namespace simrt::history
