#include "history/finding_store.h"

#include "history/failure.h"
#include "history/query.h"
#include "support/hash.h"

namespace simrt::history {
namespace {

std::int64_t finding_row(Connection& connection, std::uint64_t fingerprint) {
  Query row(connection, "SELECT id FROM finding WHERE fingerprint = ?", fingerprint);
  if (!row.next())
    throw Failure{{ErrorCode::Internal, "a finding was named before it was kept", "report it"}};
  return row.i64(0);
}

}  // namespace

Result<CheckRunId> begin_check(Database& database, const CheckRun& run) {
  return written(database, [&](Connection& connection) -> Result<CheckRunId> {
    // Several checks may begin in one second.
    Query before(connection, "SELECT coalesce(max(id), 0) FROM check_run");
    const std::uint64_t earlier = before.next() ? static_cast<std::uint64_t>(before.i64(0)) : 0;
    const std::uint64_t uid = hash_combine(
        hash_combine(hash_bytes(run.head), hash_bytes(run.base + '\n' + run.detector)),
        hash_combine(hash_combine(static_cast<std::uint64_t>(run.started_at), run.seed), earlier));
    Query(connection,
          "INSERT INTO check_run(uid, head, base, started_at, seconds, seed, detector, complete) "
          "VALUES (?, ?, ?, ?, 0, ?, ?, 0)",
          uid, run.head, run.base, run.started_at, run.seed, run.detector)
        .run();
    return CheckRunId{last_row(connection)};
  });
}

Status finish_check(Database& database, CheckRunId id, double seconds, bool complete) {
  return written(database, [&](Connection& connection) -> Status {
    Query(connection, "UPDATE check_run SET seconds = ?, complete = ? WHERE id = ?", seconds, complete,
          id.value)
        .run();
    return {};
  });
}

Status put_checked_test(Database& database, CheckRunId run, const CheckedTest& test) {
  return written(database, [&](Connection& connection) -> Status {
    Query(connection,
          "INSERT OR REPLACE INTO checked_test(check_run, test, executions, seconds, note) "
          "VALUES (?, ?, ?, ?, ?)",
          run.value, test.test, test.executions, test.seconds, test.note)
        .run();
    return {};
  });
}

Status put_finding(Database& database, CheckRunId run, const FindingRecord& finding,
                   const std::vector<std::string>& tests) {
  return written(database, [&](Connection& connection) -> Status {
    const int status = static_cast<int>(finding.status);
    Query(connection,
          "INSERT INTO finding(fingerprint, kind, status, harm, variable, title, detail) "
          "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(fingerprint) DO UPDATE SET "
          "harm = CASE WHEN excluded.harm = 1 OR harm = 0 THEN excluded.harm ELSE harm END, "
          "detail = CASE WHEN excluded.status >= status THEN excluded.detail ELSE detail END, "
          "status = max(status, excluded.status)",
          finding.fingerprint, static_cast<int>(finding.kind), status, static_cast<int>(finding.harm),
          finding.variable, finding.title, finding.detail)
        .run();
    const std::int64_t row = finding_row(connection, finding.fingerprint);
    for (const std::string& test : tests)
      Query(connection,
            "INSERT OR REPLACE INTO sighting(finding, check_run, test, status) VALUES (?, ?, ?, ?)", row,
            run.value, test, status)
          .run();
    return {};
  });
}

Status put_witness(Database& database, CheckRunId run, std::uint64_t fingerprint, const Witness& witness) {
  return written(database, [&](Connection& connection) -> Status {
    Query(connection,
          "INSERT OR REPLACE INTO witness(id, finding, check_run, test, executable, switches, ending, plan) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          witness.id, finding_row(connection, fingerprint), run.value, witness.test, witness.executable,
          witness.switches, witness.ending, witness.plan)
        .run();
    return {};
  });
}

Result<std::optional<Witness>> find_witness(Database& database, const std::string& id) {
  return guarded(database, [&](Connection& connection) -> Result<std::optional<Witness>> {
    Query rows(connection,
               "SELECT id, test, executable, switches, ending, plan FROM witness "
               "WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2",
               id);
    std::optional<Witness> found;
    while (rows.next()) {
      if (found) return std::optional<Witness>();
      found = Witness{rows.text(0), rows.text(1), rows.u64(2), rows.u64(3), rows.text(4), rows.text(5)};
    }
    return found;
  });
}

Status put_suppression(Database& database, const Suppression& suppression) {
  return written(database, [&](Connection& connection) -> Status {
    Query(
        connection,
        "INSERT OR REPLACE INTO suppression(fingerprint, reason, created_at, expires_at) VALUES (?, ?, ?, ?)",
        suppression.fingerprint, suppression.reason, suppression.created_at, suppression.expires_at)
        .run();
    return {};
  });
}

Result<std::vector<Suppression>> suppressions(Database& database) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<Suppression>> {
    Query rows(connection,
               "SELECT fingerprint, reason, created_at, expires_at FROM suppression ORDER BY fingerprint");
    std::vector<Suppression> all;
    while (rows.next()) all.push_back({rows.u64(0), rows.text(1), rows.i64(2), rows.i64(3)});
    return all;
  });
}

Result<std::vector<KnownFinding>> known_findings(Database& database) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<KnownFinding>> {
    Query rows(
        connection,
        "SELECT f.fingerprint, f.kind, f.status, f.harm, f.variable, f.title, f.detail, count(*), "
        "min(c.started_at), max(c.started_at), max(c.id), "
        "(SELECT w.id FROM witness w WHERE w.finding = f.id ORDER BY w.check_run DESC, w.id LIMIT 1), f.id "
        "FROM finding f JOIN sighting s ON s.finding = f.id JOIN check_run c ON c.id = s.check_run "
        "GROUP BY f.id ORDER BY max(c.started_at) DESC, f.fingerprint");
    std::vector<KnownFinding> all;
    while (rows.next()) {
      KnownFinding known;
      known.record = {rows.u64(0),
                      static_cast<FindingKind>(rows.i64(1)),
                      static_cast<FindingStatus>(rows.i64(2)),
                      static_cast<Harm>(rows.i64(3)),
                      rows.text(4),
                      rows.text(5),
                      rows.text(6)};
      known.sightings = rows.u64(7);
      known.first_seen = rows.i64(8);
      known.last_seen = rows.i64(9);
      if (!rows.null(11)) known.witness = rows.text(11);
      Query last(connection,
                 "SELECT s.test, c.head FROM sighting s JOIN check_run c ON c.id = s.check_run "
                 "WHERE s.finding = ? AND s.check_run = ? ORDER BY s.test",
                 rows.i64(12), rows.i64(10));
      while (last.next()) {
        known.tests.push_back(last.text(0));
        known.last_head = last.text(1);
      }
      all.push_back(std::move(known));
    }
    return all;
  });
}

}  // namespace simrt::history
