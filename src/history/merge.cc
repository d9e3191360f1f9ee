#include "history/merge.h"

#include <fmt/format.h>

#include <system_error>
#include <unordered_map>

#include "history/failure.h"
#include "history/links.h"
#include "history/merge_explorations.h"
#include "history/merge_findings.h"
#include "history/merge_runs.h"
#include "history/query.h"
#include "history/row_map.h"

namespace simrt::history {
namespace {

void merge_revisions(Connection& from, Connection& to, RowMap& revisions, MergeReport& report) {
  for (Query row(from, "SELECT key, description FROM environment ORDER BY id"); row.next();)
    Query(to, "INSERT OR IGNORE INTO environment(key, description) VALUES (?, ?)", row.text(0), row.text(1))
        .run();
  Query row(from,
            "SELECT r.id, r.sha, e.key, r.recorded_at, r.shallow, r.tool FROM revision r "
            "JOIN environment e ON e.id = r.environment ORDER BY r.id");
  while (row.next()) {
    Query known(to,
                "SELECT r.id FROM revision r JOIN environment e ON e.id = r.environment WHERE r.sha = ? AND "
                "e.key = ?",
                row.text(1), row.text(2));
    if (known.next()) {
      revisions.add(row.i64(0), known.i64(0));
      // One shallow shard makes the union doubtful; the age is that of the youngest part.
      Query(to,
            "UPDATE revision SET shallow = max(shallow, ?), recorded_at = max(recorded_at, ?) WHERE id = ?",
            row.i64(4), row.i64(3), known.i64(0))
          .run();
      continue;
    }
    Query(to,
          "INSERT INTO revision(sha, environment, recorded_at, shallow, tool) "
          "VALUES (?, (SELECT id FROM environment WHERE key = ?), ?, ?, ?)",
          row.text(1), row.text(2), row.i64(3), row.i64(4), row.text(5))
        .run();
    revisions.add(row.i64(0), last_row(to));
    ++report.revisions;
  }
  for (Query shard(from, "SELECT revision, shards, shard FROM revision_shard"); shard.next();)
    Query(to, "INSERT OR IGNORE INTO revision_shard(revision, shards, shard) VALUES (?, ?, ?)",
          revisions.at(shard.i64(0)), shard.i64(1), shard.i64(2))
        .run();
  Query(
      to,
      "UPDATE revision SET complete = EXISTS (SELECT 1 FROM revision_shard s WHERE s.revision = revision.id "
      "GROUP BY s.shards HAVING count(*) = s.shards)")
      .run();
}

void merge_files(Connection& from, Connection& to, RowMap& files) {
  for (Query row(from, "SELECT id, path, content, declarations FROM file_version ORDER BY id"); row.next();) {
    Query known(to, "SELECT id FROM file_version WHERE path = ? AND content = ? AND declarations = ?",
                row.text(1), row.i64(2), row.i64(3));
    if (known.next()) {
      files.add(row.i64(0), known.i64(0));
      continue;
    }
    Query(to, "INSERT INTO file_version(path, content, declarations) VALUES (?, ?, ?)", row.text(1),
          row.i64(2), row.i64(3))
        .run();
    files.add(row.i64(0), last_row(to));
  }
}

void merge_functions(Connection& from, Connection& to, RowMap& functions, MergeReport& report) {
  Query row(from,
            "SELECT f.id, f.function, f.hash, f.body, f.name, f.file, f.lines, f.facts, p.points FROM "
            "function_version f "
            "LEFT JOIN function_points p ON p.version = f.id ORDER BY f.id");
  while (row.next()) {
    Query known(to, "SELECT id FROM function_version WHERE function = ? AND hash = ?", row.i64(1),
                row.i64(2));
    if (known.next()) {
      functions.add(row.i64(0), known.i64(0));
      continue;
    }
    Query(to,
          "INSERT INTO function_version(function, hash, body, name, file, lines, facts) VALUES (?, ?, ?, ?, "
          "?, ?, ?)",
          row.i64(1), row.i64(2), row.i64(3), row.text(4), row.text(5), row.i64(6), Blob{row.bytes(7)})
        .run();
    const std::int64_t version = last_row(to);
    if (!row.null(8))
      Query(to, "INSERT INTO function_points(version, points) VALUES (?, ?)", version, Blob{row.bytes(8)})
          .run();
    functions.add(row.i64(0), version);
    ++report.function_versions;
  }
}

void merge_variables(Connection& from, Connection& to, RowMap& variables) {
  for (Query row(from, "SELECT id, variable, hash, facts FROM variable_version ORDER BY id"); row.next();) {
    Query known(to, "SELECT id FROM variable_version WHERE variable = ? AND hash = ?", row.i64(1),
                row.i64(2));
    if (known.next()) {
      variables.add(row.i64(0), known.i64(0));
      continue;
    }
    Query(to, "INSERT INTO variable_version(variable, hash, facts) VALUES (?, ?, ?)", row.i64(1), row.i64(2),
          Blob{row.bytes(3)})
        .run();
    variables.add(row.i64(0), last_row(to));
  }
}

std::string mapped_links(std::string_view packed, const RowMap& rows) {
  std::vector<Link> links = unpack_links(packed);
  for (Link& link : links) link.version = rows.at(link.version);
  return pack_links(links);
}

void merge_units(Connection& from, Connection& to, const RowMap& files, const RowMap& functions,
                 const RowMap& variables, RowMap& units, MergeReport& report) {
  Query row(from,
            "SELECT id, path, command, hash, codec, errors, files, functions, variables, messages FROM unit "
            "ORDER BY id");
  while (row.next()) {
    Query known(to, "SELECT id FROM unit WHERE hash = ?", row.i64(3));
    if (known.next()) {
      units.add(row.i64(0), known.i64(0));
      continue;
    }
    std::vector<std::int64_t> file_rows = unpack_rows(row.bytes(6));
    for (std::int64_t& file : file_rows) file = files.at(file);
    const std::string packed_files = pack_rows(file_rows),
                      packed_functions = mapped_links(row.bytes(7), functions),
                      packed_variables = mapped_links(row.bytes(8), variables);
    Query(to,
          "INSERT INTO unit(path, command, hash, codec, errors, files, functions, variables, messages) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
          row.text(1), row.i64(2), row.i64(3), row.i64(4), row.i64(5), Blob{packed_files},
          Blob{packed_functions}, Blob{packed_variables}, Blob{row.bytes(9)})
        .run();
    units.add(row.i64(0), last_row(to));
    ++report.units;
  }
}

/// Links units that the target's revision has no version of, or only one in an older format.
void merge_unit_links(Connection& from, Connection& to, const RowMap& revisions, const RowMap& units) {
  for (Query row(from, "SELECT revision, unit FROM revision_unit ORDER BY revision, unit"); row.next();) {
    const std::int64_t revision = revisions.at(row.i64(0)), unit = units.at(row.i64(1));
    Query rival(to,
                "SELECT o.id, o.codec >= n.codec FROM unit n JOIN unit o ON o.path = n.path AND o.command = "
                "n.command "
                "JOIN revision_unit r ON r.unit = o.id AND r.revision = ?1 WHERE n.id = ?2",
                revision, unit);
    if (rival.next()) {
      if (rival.flag(1)) continue;
      Query(to, "DELETE FROM revision_unit WHERE revision = ? AND unit = ?", revision, rival.i64(0)).run();
    }
    Query(to, "INSERT INTO revision_unit(revision, unit) VALUES (?, ?)", revision, unit).run();
  }
}

void merge_commands(Connection& from, Connection& to, const RowMap& revisions) {
  RowMap commands("a compile command");
  for (Query row(from, "SELECT id, path, hash, content, command FROM compile_command ORDER BY id");
       row.next();) {
    Query(to, "INSERT OR IGNORE INTO compile_command(path, hash, content, command) VALUES (?, ?, ?, ?)",
          row.text(1), row.i64(2), row.i64(3), Blob{row.bytes(4)})
        .run();
    Query known(to, "SELECT id FROM compile_command WHERE content = ?", row.i64(3));
    if (known.next()) commands.add(row.i64(0), known.i64(0));
  }
  for (Query row(from, "SELECT revision, command FROM revision_command ORDER BY revision, command");
       row.next();)
    Query(to, "INSERT OR IGNORE INTO revision_command(revision, command) VALUES (?, ?)",
          revisions.at(row.i64(0)), commands.at(row.i64(1)))
        .run();
}

MergeReport merge_all(Connection& from, Connection& to) {
  MergeReport report;
  RowMap revisions("a revision"), files("a file"), functions("a function"), variables("a variable"),
      units("a unit");
  merge_revisions(from, to, revisions, report);
  merge_files(from, to, files);
  merge_functions(from, to, functions, report);
  merge_variables(from, to, variables);
  merge_units(from, to, files, functions, variables, units, report);
  merge_unit_links(from, to, revisions, units);
  merge_commands(from, to, revisions);
  merge_runs(from, to, revisions, report);
  merge_selections(from, to, revisions, report);
  const RowMap runs = merge_findings(from, to, report);
  merge_explorations(from, to, runs, report);
  return report;
}

}  // namespace

Result<MergeReport> merge(Database& target, const std::filesystem::path& source) {
  std::error_code error;
  if (std::filesystem::equivalent(target.path(), source, error))
    return fail(ErrorCode::Usage, "a history cannot be merged into itself");
  Result<Database> other = Database::open(source, {OpenMode::ReadOnly});
  if (!other) return fail(other.error());
  return target.transaction([&] {
    // Damage found while reading is most likely the source's: it is named first.
    return guarded(*other, [&](Connection& from) -> Result<MergeReport> {
      // One read transaction, so that a recorder that still writes to the source cannot change it half-way.
      from.handle().exec("BEGIN");
      auto merged =
          guarded(target, [&](Connection& to) -> Result<MergeReport> { return merge_all(from, to); });
      from.handle().exec("COMMIT");
      return merged;
    });
  });
}

}  // namespace simrt::history
