#include "history/revision_store.h"

#include <fmt/format.h>

#include "history/failure.h"
#include "history/query.h"

namespace simrt::history {
namespace {

constexpr std::string_view kSelect =
    "SELECT r.id, r.sha, e.key, r.recorded_at, r.complete, r.shallow, r.tool, "
    "EXISTS (SELECT 1 FROM run x WHERE x.revision = r.id) "
    "FROM revision r JOIN environment e ON e.id = r.environment ";

RevisionInfo read(const Query& row) {
  return {{row.i64(0)}, row.text(1), row.text(2), row.i64(3),
          row.flag(4),  row.flag(5), row.text(6), row.flag(7)};
}

}  // namespace

Result<RevisionId> begin_revision(Database& database, const RevisionInfo& revision,
                                  const Environment& environment, Extent extent) {
  return written(database, [&](Connection& connection) -> Result<RevisionId> {
    Query(connection,
          "INSERT INTO environment(key, description) VALUES (?, ?) "
          "ON CONFLICT(key) DO UPDATE SET description = excluded.description",
          environment.key, environment.description)
        .run();
    Query(connection,
          "INSERT INTO revision(sha, environment, recorded_at, shallow, tool) "
          "VALUES (?1, (SELECT id FROM environment WHERE key = ?2), ?3, ?4, ?5) "
          "ON CONFLICT(sha, environment) DO UPDATE SET recorded_at = excluded.recorded_at, "
          "shallow = excluded.shallow, tool = excluded.tool",
          revision.sha, environment.key, revision.recorded_at, revision.shallow, revision.tool)
        .run();
    Query row(connection,
              "SELECT r.id FROM revision r JOIN environment e ON e.id = r.environment WHERE r.sha = ? AND "
              "e.key = ?",
              revision.sha, environment.key);
    row.next();
    const RevisionId id{row.i64(0)};
    if (extent == Extent::Part) return id;
    Query(connection, "UPDATE revision SET complete = 0 WHERE id = ?", id.value).run();
    Query(connection, "DELETE FROM revision_shard WHERE revision = ?", id.value).run();
    return id;
  });
}

Status finish_revision(Database& database, RevisionId revision, Shard shard) {
  if (shard.index == 0 || shard.index > shard.count)
    return fail(ErrorCode::Usage, fmt::format("there is no shard {} of {}", shard.index, shard.count));
  return written(database, [&](Connection& connection) -> Status {
    Query(connection, "INSERT OR IGNORE INTO revision_shard(revision, shards, shard) VALUES (?, ?, ?)",
          revision.value, shard.count, shard.index)
        .run();
    Query(connection,
          "UPDATE revision SET complete = EXISTS (SELECT 1 FROM revision_shard s WHERE s.revision = ?1 "
          "GROUP BY s.shards HAVING count(*) = s.shards) WHERE id = ?1",
          revision.value)
        .run();
    return {};
  });
}

Result<std::optional<RevisionInfo>> find_revision(Database& database, const std::string& sha,
                                                  const std::string& environment) {
  return guarded(database, [&](Connection& connection) -> Result<std::optional<RevisionInfo>> {
    const std::string sql = std::string(kSelect) + "WHERE r.sha = ? AND e.key = ?";
    Query row(connection, sql, sha, environment);
    return row.next() ? std::optional(read(row)) : std::nullopt;
  });
}

Result<std::vector<RevisionInfo>> revisions(Database& database, const std::string& environment) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<RevisionInfo>> {
    const std::string sql =
        std::string(kSelect) + "WHERE ?1 = '' OR e.key = ?1 ORDER BY r.recorded_at DESC, r.id DESC";
    std::vector<RevisionInfo> found;
    for (Query row(connection, sql, environment); row.next();) found.push_back(read(row));
    return found;
  });
}

Result<std::vector<Environment>> environments(Database& database) {
  return guarded(database, [](Connection& connection) -> Result<std::vector<Environment>> {
    std::vector<Environment> found;
    for (Query row(connection, "SELECT key, description FROM environment ORDER BY key"); row.next();)
      found.push_back({row.text(0), row.text(1)});
    return found;
  });
}

}  // namespace simrt::history
