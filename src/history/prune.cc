#include "history/prune.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <vector>

#include "history/failure.h"
#include "history/links.h"
#include "history/query.h"

namespace simrt::history {
namespace {

using Rows = std::vector<std::int64_t>;
using RowSet = std::unordered_set<std::int64_t>;

Rows condemned_revisions(Connection& connection, const PruneOptions& options) {
  struct Seen {
    std::uint32_t revisions = 0;
    bool complete = false;
  };
  std::map<std::int64_t, Seen> environments;
  Rows condemned;
  Query row(connection,
            "SELECT id, environment, recorded_at, complete FROM revision ORDER BY recorded_at DESC, id DESC");
  while (row.next()) {
    Seen& seen = environments[row.i64(1)];
    const bool newest = ++seen.revisions == 1;
    const bool newest_complete = row.flag(3) && !seen.complete;
    seen.complete = seen.complete || row.flag(3);
    if (newest || newest_complete) continue;
    const bool surplus = options.keep_revisions > 0 && seen.revisions > options.keep_revisions;
    const bool old = options.older_than > 0 && row.i64(2) < options.now - options.older_than;
    if (surplus || old) condemned.push_back(row.i64(0));
  }
  return condemned;
}

std::uint32_t execute(Connection& connection, std::string_view sql) {
  Query(connection, sql).run();
  return static_cast<std::uint32_t>(changes(connection));
}

void drop_revision(Connection& connection, std::int64_t revision, PruneReport& report) {
  for (const std::string_view sql :
       {"DELETE FROM selection_access WHERE selection IN (SELECT id FROM selection WHERE base = ?)",
        "DELETE FROM selection_pair WHERE selection IN (SELECT id FROM selection WHERE base = ?)",
        "DELETE FROM selection_decision WHERE selection IN (SELECT id FROM selection WHERE base = ?)"})
    Query(connection, sql, revision).run();
  Query(connection, "DELETE FROM selection WHERE base = ?", revision).run();
  report.selections += static_cast<std::uint32_t>(changes(connection));
  Query(connection, "DELETE FROM run WHERE revision = ?", revision).run();
  report.runs += static_cast<std::uint32_t>(changes(connection));
  Query(connection, "DELETE FROM suite_change WHERE revision = ?", revision).run();
  Query(connection, "DELETE FROM revision_unit WHERE revision = ?", revision).run();
  Query(connection, "DELETE FROM revision_command WHERE revision = ?", revision).run();
  Query(connection, "DELETE FROM revision_shard WHERE revision = ?", revision).run();
  Query(connection, "DELETE FROM revision WHERE id = ?", revision).run();
  ++report.revisions;
}

struct LiveVersions {
  RowSet files, functions, variables;
};

LiveVersions live_versions(Connection& connection) {
  LiveVersions live;
  for (Query row(connection, "SELECT files, functions, variables FROM unit"); row.next();) {
    for (const std::int64_t file : unpack_rows(row.bytes(0))) live.files.insert(file);
    for (const Link& link : unpack_links(row.bytes(1))) live.functions.insert(link.version);
    for (const Link& link : unpack_links(row.bytes(2))) live.variables.insert(link.version);
  }
  return live;
}

/// Deletes the rows of a table that are not in `live`.
std::uint32_t sweep(Connection& connection, std::string_view list, std::string_view erase,
                    const RowSet& live) {
  Rows dead;
  for (Query row(connection, list); row.next();)
    if (!live.contains(row.i64(0))) dead.push_back(row.i64(0));
  Query query(connection, erase);
  for (const std::int64_t row : dead) {
    query.bind(row);
    query.run();
  }
  return static_cast<std::uint32_t>(dead.size());
}

void collect_garbage(Connection& connection, PruneReport& report) {
  report.units += execute(connection, "DELETE FROM unit WHERE id NOT IN (SELECT unit FROM revision_unit)");
  execute(connection, "DELETE FROM compile_command WHERE id NOT IN (SELECT command FROM revision_command)");
  const LiveVersions live = live_versions(connection);
  sweep(connection, "SELECT version FROM function_points", "DELETE FROM function_points WHERE version = ?",
        live.functions);
  report.function_versions += sweep(connection, "SELECT id FROM function_version",
                                    "DELETE FROM function_version WHERE id = ?", live.functions);
  sweep(connection, "SELECT id FROM variable_version", "DELETE FROM variable_version WHERE id = ?",
        live.variables);
  sweep(connection, "SELECT id FROM file_version", "DELETE FROM file_version WHERE id = ?", live.files);
  report.coverages +=
      execute(connection,
              "DELETE FROM coverage WHERE id NOT IN (SELECT coverage FROM run WHERE coverage IS NOT NULL)");
  execute(connection, "DELETE FROM test_case WHERE id NOT IN (SELECT test_case FROM run)");
  execute(connection, "DELETE FROM test WHERE id NOT IN (SELECT test FROM test_case)");
  execute(connection, "DELETE FROM environment WHERE id NOT IN (SELECT environment FROM revision)");
}

/// Of checks that began before `oldest`: sightings that are not the last one of a confirmed finding,
/// witnesses that are not the newest one of theirs, and then what nothing refers to any more.
void drop_checks(Connection& connection, std::int64_t oldest, std::int64_t now, PruneReport& report) {
  const std::string_view kOld =
      "DELETE FROM witness WHERE check_run IN (SELECT id FROM check_run WHERE started_at < ?1) AND EXISTS "
      "(SELECT 1 FROM witness n JOIN check_run c ON c.id = n.check_run JOIN check_run o ON o.id = "
      "witness.check_run "
      "WHERE n.finding = witness.finding AND (c.started_at, c.id, n.id) > (o.started_at, o.id, witness.id))";
  Query(connection, kOld, oldest).run();
  Query(connection,
        "DELETE FROM sighting WHERE check_run IN (SELECT id FROM check_run WHERE started_at < ?1) AND NOT "
        "((SELECT status FROM finding f WHERE f.id = sighting.finding) = 1 AND check_run = "
        "(SELECT s.check_run FROM sighting s JOIN check_run c ON c.id = s.check_run WHERE s.finding = "
        "sighting.finding ORDER BY c.started_at DESC, c.id DESC LIMIT 1))",
        oldest)
      .run();
  report.findings += execute(connection,
                             "DELETE FROM finding WHERE id NOT IN (SELECT finding FROM sighting) AND "
                             "id NOT IN (SELECT finding FROM witness)");
  // What is known of a test's interleavings hangs on its newest exploration.
  Query(connection,
        "DELETE FROM exploration WHERE check_run IN (SELECT id FROM check_run WHERE started_at < ?1) AND "
        "EXISTS "
        "(SELECT 1 FROM exploration n JOIN check_run c ON c.id = n.check_run JOIN check_run o ON o.id = "
        "exploration.check_run WHERE n.test = exploration.test AND (c.started_at, n.id) > (o.started_at, "
        "exploration.id)) AND id NOT IN (SELECT exploration FROM pattern_instance)",
        oldest)
      .run();
  constexpr std::string_view kDead =
      "FROM check_run WHERE started_at < ?1 AND id NOT IN (SELECT check_run FROM sighting) AND id NOT IN "
      "(SELECT "
      "check_run FROM witness) AND id NOT IN (SELECT check_run FROM exploration) AND id <> (SELECT id FROM "
      "check_run ORDER BY started_at DESC, id DESC LIMIT "
      "1)";
  const std::string tests =
      "DELETE FROM checked_test WHERE check_run IN (SELECT id " + std::string(kDead) + ")";
  Query(connection, tests, oldest).run();
  const std::string runs = "DELETE " + std::string(kDead);
  Query(connection, runs, oldest).run();
  report.check_runs += static_cast<std::uint32_t>(changes(connection));
  Query(connection, "DELETE FROM suppression WHERE expires_at < ?1 AND expires_at < ?2", oldest, now).run();
}

/// A mapping older than every revision that is left belongs to a binary nobody runs any more; at worst one is
/// made again.
void drop_mappings(Connection& connection, PruneReport& report) {
  report.mappings += execute(
      connection, "DELETE FROM module_mapping WHERE stored_at < (SELECT min(recorded_at) FROM revision)");
}

std::uint64_t database_bytes(Connection& connection) {
  Query row(connection, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  return row.next() ? row.u64(0) : 0;
}

}  // namespace

Result<PruneReport> prune(Database& database, const PruneOptions& options) {
  PruneReport report;
  Status dropped = written(database, [&](Connection& connection) -> Status {
    report.bytes_before = database_bytes(connection);
    for (const std::int64_t revision : condemned_revisions(connection, options))
      drop_revision(connection, revision, report);
    collect_garbage(connection, report);
    if (report.revisions > 0) drop_mappings(connection, report);
    if (options.older_than > 0)
      drop_checks(connection, options.now - options.older_than, options.now, report);
    return {};
  });
  if (!dropped) return fail(dropped.error());
  return guarded(database, [&](Connection& connection) -> Result<PruneReport> {
    if (options.vacuum) connection.handle().exec("VACUUM");
    report.bytes_after = database_bytes(connection);
    return report;
  });
}

}  // namespace simrt::history
