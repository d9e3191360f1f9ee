#include "history/run_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "history/coverage_codec.h"
#include "history/failure.h"
#include "history/links.h"
#include "history/query.h"
#include "history/run_rows.h"
#include "history/test_codec.h"
#include "support/hash.h"

namespace simrt::history {
namespace {

constexpr std::string_view kColumns =
    "SELECT x.id, x.finished_at, x.outcome, x.exit_code, x.seconds, x.executable, x.reused, x.notes, "
    "t.id, t.name, k.definition, x.coverage ";
constexpr std::string_view kJoins =
    "FROM run x JOIN test t ON t.id = x.test JOIN test_case k ON k.id = x.test_case ";

std::uint64_t case_hash(const TestCase& test, std::string_view definition) {
  return hash_combine(test.id.value, hash_bytes(definition));
}

RecordedRun read_run(const Query& row) {
  RecordedRun recorded;
  recorded.run = {row.i64(0)};
  recorded.finished_at = row.i64(1);
  recorded.last.outcome = static_cast<Outcome>(row.i64(2));
  recorded.last.exit_code = static_cast<int>(row.i64(3));
  recorded.last.seconds = row.real(4);
  recorded.last.executable = row.u64(5);
  recorded.reused = row.flag(6);
  recorded.last.notes = unpack_texts(row.bytes(7));
  recorded.test.id = recorded.last.test = {row.u64(8)};
  recorded.test.name = row.text(9);
  if (Status done = decode_test_case(row.bytes(10), recorded.test); !done) throw Failure{done.error()};
  recorded.last.has_coverage = !row.null(11);
  return recorded;
}

TestCoverage read_coverage(Query& query, std::int64_t id) {
  query.again();
  query.bind(id);
  if (!query.next())
    throw Failure{{ErrorCode::History, "the history is damaged: the coverage of a run is missing",
                   "restore it from a copy, or move it away and record again"}};
  Result<TestCoverage> decoded = decode_coverage(query.bytes(0));
  if (!decoded) throw Failure{decoded.error()};
  return std::move(*decoded);
}

constexpr std::string_view kCoverage = "SELECT coverage FROM coverage WHERE id = ?";

/// Equal in every database, different for every run: the row number and the time tell runs of one test apart.
std::uint64_t run_uid(Connection& connection, RevisionId revision, const TestRun& run,
                      std::int64_t finished_at) {
  Query key(connection,
            "SELECT r.sha, e.key, (SELECT coalesce(max(id), 0) FROM run) FROM revision r "
            "JOIN environment e ON e.id = r.environment WHERE r.id = ?",
            revision.value);
  if (!key.next()) throw Failure{{ErrorCode::Internal, "a run was recorded for an unknown revision", {}}};
  std::uint64_t uid = hash_combine(hash_bytes(key.bytes(0)), hash_bytes(key.bytes(1)));
  for (const std::uint64_t part :
       {key.u64(2), run.test.value, static_cast<std::uint64_t>(finished_at),
        std::bit_cast<std::uint64_t>(run.seconds), run.executable, static_cast<std::uint64_t>(run.outcome)})
    uid = hash_combine(uid, part);
  return uid;
}

/// Of an announced run: earlier than any real one, whichever database that comes from.
constexpr std::int64_t kAnnounced = 0;

std::int64_t insert_run(Connection& connection, RevisionId revision, const TestCase& test, const TestRun& run,
                        std::int64_t finished_at) {
  const std::int64_t definition = store_test_case(connection, test);
  const std::string notes = pack_texts(run.notes);
  Query insert(connection,
               "INSERT INTO run(uid, revision, test, test_case, finished_at, outcome, exit_code, seconds, "
               "executable, notes, coverage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const std::uint64_t uid = run_uid(connection, revision, run, finished_at);
  const auto outcome = static_cast<int>(run.outcome);
  if (run.has_coverage)
    insert.bind(uid, revision.value, test.id.value, definition, finished_at, outcome, run.exit_code,
                run.seconds, run.executable, Blob{notes}, store_coverage(connection, run.coverage));
  else
    insert.bind(uid, revision.value, test.id.value, definition, finished_at, outcome, run.exit_code,
                run.seconds, run.executable, Blob{notes}, nullptr);
  insert.run();
  return last_row(connection);
}

void drop_announcement(Connection& connection, RevisionId revision, TestId test) {
  Query(connection, "DELETE FROM run WHERE revision = ? AND test = ? AND finished_at = ?", revision.value,
        test.value, kAnnounced)
      .run();
}

}  // namespace

void drop_answered_announcements(Connection& connection) {
  Query(connection,
        "DELETE FROM run WHERE finished_at = ?1 AND EXISTS (SELECT 1 FROM run y WHERE "
        "y.revision = run.revision AND y.test = run.test AND y.finished_at <> ?1)",
        kAnnounced)
      .run();
}

std::int64_t store_test_case(Connection& connection, const TestCase& test) {
  Query(connection, "INSERT OR IGNORE INTO test(id, name) VALUES (?, ?)", test.id.value, test.name).run();
  const std::string definition = encode_test_case(test);
  const std::uint64_t hash = case_hash(test, definition);
  Query known(connection, "SELECT id FROM test_case WHERE hash = ?", hash);
  if (known.next()) return known.i64(0);
  const std::string blob = seal_test_case(definition);
  Query(connection, "INSERT INTO test_case(test, hash, definition) VALUES (?, ?, ?)", test.id.value, hash,
        Blob{blob})
      .run();
  return last_row(connection);
}

std::int64_t store_coverage(Connection& connection, const TestCoverage& coverage) {
  const std::string bytes = encode_coverage(coverage);
  const std::uint64_t hash = hash_bytes(bytes);
  Query known(connection, "SELECT id FROM coverage WHERE hash = ?", hash);
  if (known.next()) return known.i64(0);
  const std::string blob = seal_coverage(bytes);
  Query(connection, "INSERT INTO coverage(hash, threads, blocks, shared, coverage) VALUES (?, ?, ?, ?, ?)",
        hash, coverage.threads, coverage.all().cardinality(), coverage.several.cardinality(), Blob{blob})
      .run();
  return last_row(connection);
}

Result<RunId> put_run(Database& database, RevisionId revision, const TestCase& test, const TestRun& run,
                      std::int64_t finished_at) {
  return written(database, [&](Connection& connection) -> Result<RunId> {
    drop_announcement(connection, revision, test.id);
    return RunId{insert_run(connection, revision, test, run, finished_at)};
  });
}

namespace {

/// A test with a row in suite_change that says it is gone, and no later run.
bool is_gone(Connection& connection, RevisionId revision, TestId test) {
  return Query(connection,
               "SELECT 1 FROM suite_change s WHERE s.revision = ?1 AND s.test = ?2 AND s.present = 0 AND "
               "s.since >= "
               "(SELECT max(x.finished_at) FROM run x WHERE x.revision = ?1 AND x.test = ?2)",
               revision.value, test.value)
      .next();
}

/// Later than the change before, so that of two histories the one that knows both wins.
void put_suite_change(Connection& connection, RevisionId revision, TestId test, bool present) {
  Query(connection,
        "INSERT INTO suite_change(revision, test, since, present) VALUES (?1, ?2, "
        "(SELECT max(x.finished_at) FROM run x WHERE x.revision = ?1 AND x.test = ?2), ?3) "
        "ON CONFLICT(revision, test) DO UPDATE SET present = excluded.present, "
        "since = max(suite_change.since + 1, excluded.since)",
        revision.value, test.value, present)
      .run();
}

}  // namespace

Status announce_tests(Database& database, RevisionId revision, const std::vector<TestCase>& tests) {
  return written(database, [&](Connection& connection) -> Status {
    for (const TestCase& test : tests) {
      Query known(connection, "SELECT 1 FROM run WHERE revision = ? AND test = ?", revision.value,
                  test.id.value);
      if (known.next()) {
        if (is_gone(connection, revision, test.id)) put_suite_change(connection, revision, test.id, true);
        continue;
      }
      TestRun run;
      run.test = test.id;
      insert_run(connection, revision, test, run, kAnnounced);
    }
    return {};
  });
}

Result<std::size_t> narrow_suite(Database& database, RevisionId revision,
                                 const std::vector<TestCase>& tests) {
  return written(database, [&](Connection& connection) -> Result<std::size_t> {
    std::unordered_set<std::uint64_t> found;
    for (const TestCase& test : tests) found.insert(test.id.value);
    std::vector<TestId> left;
    for (Query row(connection, "SELECT DISTINCT test FROM run WHERE revision = ?", revision.value);
         row.next();)
      if (const TestId test{row.u64(0)}; !found.contains(test.value) && !is_gone(connection, revision, test))
        left.push_back(test);
    for (const TestId test : left) put_suite_change(connection, revision, test, false);
    return left.size();
  });
}

Result<std::optional<RecordedRun>> find_reusable_run(Database& database, const TestCase& test,
                                                     std::uint64_t executable,
                                                     const std::string& environment) {
  return guarded(database, [&](Connection& connection) -> Result<std::optional<RecordedRun>> {
    if (executable == 0) return std::nullopt;
    const std::string sql = fmt::format(
        "{}{}JOIN revision r ON r.id = x.revision JOIN environment e ON e.id = r.environment "
        "WHERE x.test = ? AND x.executable = ? AND x.reused = 0 AND e.key = ? AND k.hash = ? "
        "ORDER BY x.finished_at DESC, x.id DESC LIMIT 1",
        kColumns, kJoins);
    Query row(connection, sql, test.id.value, executable, environment,
              case_hash(test, encode_test_case(test)));
    if (!row.next()) return std::nullopt;
    RecordedRun run = read_run(row);
    if (run.last.has_coverage) {
      Query query(connection, kCoverage);
      run.last.coverage = read_coverage(query, row.i64(11));
    }
    return run;
  });
}

Result<RunId> reuse_run(Database& database, RevisionId revision, const TestCase& test, RunId earlier,
                        std::int64_t finished_at) {
  return written(database, [&](Connection& connection) -> Result<RunId> {
    const std::int64_t definition = store_test_case(connection, test);
    Query source(connection, "SELECT outcome, seconds, executable FROM run WHERE id = ? AND test = ?",
                 earlier.value, test.id.value);
    if (!source.next())
      return fail(ErrorCode::Internal,
                  fmt::format("there is no run {} of '{}' to reuse", earlier.value, test.name));
    drop_announcement(connection, revision, test.id);
    TestRun run;
    run.test = test.id;
    run.outcome = static_cast<Outcome>(source.i64(0));
    run.seconds = source.real(1);
    run.executable = source.u64(2);
    Query(connection,
          "INSERT INTO run(uid, revision, test, test_case, finished_at, outcome, exit_code, seconds, "
          "executable, "
          "coverage, notes, reused) SELECT ?1, ?2, test, ?3, ?4, outcome, exit_code, seconds, executable, "
          "coverage, "
          "notes, 1 FROM run WHERE id = ?5",
          run_uid(connection, revision, run, finished_at), revision.value, definition, finished_at,
          earlier.value)
        .run();
    return RunId{last_row(connection)};
  });
}

Result<std::vector<RecordedRun>> recorded_tests(Database& database, RevisionId revision,
                                                WithCoverage coverage) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<RecordedRun>> {
    const std::string sql = fmt::format(
        "{}{}WHERE x.revision = ? AND x.id = (SELECT y.id FROM run y WHERE y.revision = x.revision AND "
        "y.test = x.test "
        "ORDER BY y.finished_at DESC, y.id DESC LIMIT 1) "
        "AND NOT EXISTS (SELECT 1 FROM suite_change s WHERE s.revision = x.revision AND s.test = x.test "
        "AND s.present = 0 AND s.since >= x.finished_at)",
        kColumns, kJoins);
    std::vector<RecordedRun> runs;
    std::unordered_map<std::int64_t, std::size_t> first_with;  // equal coverage is decoded once
    Query blocks(connection, kCoverage);
    for (Query row(connection, sql, revision.value); row.next();) {
      runs.push_back(read_run(row));
      if (coverage == WithCoverage::No || row.null(11)) continue;
      const auto [first, fresh] = first_with.try_emplace(row.i64(11), runs.size() - 1);
      runs.back().last.coverage =
          fresh ? read_coverage(blocks, row.i64(11)) : TestCoverage(runs[first->second].last.coverage);
    }
    std::sort(runs.begin(), runs.end(),
              [](const RecordedRun& a, const RecordedRun& b) { return a.test.name < b.test.name; });
    return runs;
  });
}

}  // namespace simrt::history
