#include "history/facts_store.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "history/blob_frame.h"
#include "history/compact_archive.h"
#include "history/facts_codec.h"
#include "history/failure.h"
#include "history/links.h"
#include "history/query.h"
#include "support/hash.h"

namespace simrt::history {
namespace {

/// Content hash of a version: everything that makes it different from another one.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes) { return add(hash_bytes(bytes)); }
  Fingerprint& add(std::uint64_t value) {
    hash_ = hash_combine(hash_, value);
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = kFactsCodec;
};

struct Stored {
  std::int64_t row = 0;
  std::uint64_t hash = 0;
};

Stored store_function(Connection& connection, const FunctionFacts& function, const FunctionPoints* points) {
  const std::string facts = encode_function(function);
  const std::string where = points ? encode_points(*points, function.begin_line) : std::string();
  const std::uint32_t lines = function.end_line - function.begin_line;
  const std::uint64_t hash = Fingerprint()
                                 .add(facts)
                                 .add(where)
                                 .add(function.body)
                                 .add(function.name)
                                 .add(function.file)
                                 .add(lines)
                                 .value();
  Query known(connection, "SELECT id FROM function_version WHERE function = ? AND hash = ?",
              function.id.value, hash);
  if (known.next()) return {known.i64(0), hash};
  const std::string blob = seal(facts, kFactsCodec);
  Query(connection,
        "INSERT INTO function_version(function, hash, body, name, file, lines, facts) VALUES (?, ?, ?, ?, ?, "
        "?, ?)",
        function.id.value, hash, function.body, function.name, function.file, lines, Blob{blob})
      .run();
  const std::int64_t row = last_row(connection);
  if (points) {
    const std::string packed = seal(where, kFactsCodec);
    Query(connection, "INSERT INTO function_points(version, points) VALUES (?, ?)", row, Blob{packed}).run();
  }
  return {row, hash};
}

Stored store_variable(Connection& connection, const VariableFacts& variable) {
  const std::string facts = encode_variable(variable);
  const std::uint64_t hash = Fingerprint().add(facts).value();
  Query known(connection, "SELECT id FROM variable_version WHERE variable = ? AND hash = ?",
              variable.id.value, hash);
  if (known.next()) return {known.i64(0), hash};
  const std::string blob = seal(facts, kFactsCodec);
  Query(connection, "INSERT INTO variable_version(variable, hash, facts) VALUES (?, ?, ?)", variable.id.value,
        hash, Blob{blob})
      .run();
  return {last_row(connection), hash};
}

std::int64_t store_file(Connection& connection, const FileFacts& file) {
  Query known(connection, "SELECT id FROM file_version WHERE path = ? AND content = ? AND declarations = ?",
              file.path, file.content, file.declarations);
  if (known.next()) return known.i64(0);
  Query(connection, "INSERT INTO file_version(path, content, declarations) VALUES (?, ?, ?)", file.path,
        file.content, file.declarations)
      .run();
  return last_row(connection);
}

/// Points are parallel to functions; a unit that says otherwise has none for the rest.
const FunctionPoints* points_of(const UnitFacts& unit, std::size_t index) {
  if (index >= unit.points.size() || unit.points[index].function != unit.functions[index].id) return nullptr;
  return &unit.points[index];
}

UnitId store_unit(Connection& connection, const UnitFacts& unit) {
  Fingerprint fingerprint;
  fingerprint.add(unit.path).add(unit.command).add(unit.errors);
  std::vector<std::int64_t> files;
  for (const FileFacts& file : unit.files) {
    files.push_back(store_file(connection, file));
    fingerprint.add(file.path).add(file.content).add(file.declarations);
  }
  std::vector<Link> functions;
  for (std::size_t i = 0; i < unit.functions.size(); ++i) {
    const FunctionFacts& function = unit.functions[i];
    const Stored stored = store_function(connection, function, points_of(unit, i));
    functions.push_back({stored.row, function.begin_line});
    fingerprint.add(function.id.value).add(stored.hash).add(function.begin_line);
  }
  std::vector<Link> variables;
  for (const VariableFacts& variable : unit.variables) {
    const Stored stored = store_variable(connection, variable);
    variables.push_back({stored.row, variable.at.line});
    fingerprint.add(variable.id.value).add(stored.hash).add(variable.at.line);
  }
  for (const std::string& message : unit.messages) fingerprint.add(message);

  Query known(connection, "SELECT id FROM unit WHERE hash = ?", fingerprint.value());
  if (known.next()) return {known.i64(0)};
  const std::string packed_files = pack_rows(files), packed_functions = pack_links(functions),
                    packed_variables = pack_links(variables), messages = pack_texts(unit.messages);
  Query(connection,
        "INSERT INTO unit(path, command, hash, codec, errors, files, functions, variables, messages) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        unit.path, unit.command, fingerprint.value(), kFactsCodec, unit.errors, Blob{packed_files},
        Blob{packed_functions}, Blob{packed_variables}, Blob{messages})
      .run();
  return {last_row(connection)};
}

void link(Connection& connection, RevisionId revision, UnitId unit) {
  Query(connection,
        "DELETE FROM revision_unit WHERE revision = ?1 AND unit IN (SELECT o.id FROM unit o JOIN unit n "
        "ON n.path = o.path AND n.command = o.command WHERE n.id = ?2)",
        revision.value, unit.value)
      .run();
  Query(connection, "INSERT INTO revision_unit(revision, unit) VALUES (?, ?)", revision.value, unit.value)
      .run();
}

/// Rows of file_version, each read once.
class Files {
 public:
  explicit Files(Connection& connection)
      : query_(connection, "SELECT path, content, declarations FROM file_version WHERE id = ?") {}
  std::vector<FileFacts> read(std::string_view packed) {
    std::vector<FileFacts> files;
    for (const std::int64_t row : unpack_rows(packed)) {
      auto [known, fresh] = known_.try_emplace(row);
      if (fresh) {
        query_.again();
        query_.bind(row);
        if (query_.next()) known->second = {query_.text(0), query_.u64(1), query_.u64(2)};
      }
      files.push_back(known->second);
    }
    return files;
  }

 private:
  Query query_;
  std::unordered_map<std::int64_t, FileFacts> known_;
};

StoredUnit read_unit(const Query& row, Files& files) {
  return {
      {row.i64(0)}, row.text(1), row.u64(2), row.u32(3), files.read(row.bytes(4)), row.i64(5) == kFactsCodec};
}

}  // namespace

Result<UnitId> put_unit(Database& database, RevisionId revision, const UnitFacts& unit) {
  return written(database, [&](Connection& connection) -> Result<UnitId> {
    const UnitId id = store_unit(connection, unit);
    link(connection, revision, id);
    return id;
  });
}

Status link_unit(Database& database, RevisionId revision, UnitId unit) {
  return written(database, [&](Connection& connection) -> Status {
    link(connection, revision, unit);
    return {};
  });
}

Result<std::optional<StoredUnit>> find_unit(Database& database, const std::string& path,
                                            std::uint64_t command, const ContentHash& content) {
  return guarded(database, [&](Connection& connection) -> Result<std::optional<StoredUnit>> {
    Files files(connection);
    Query row(connection,
              "SELECT id, path, command, errors, files, codec FROM unit WHERE path = ? AND command = ? AND "
              "codec = ? "
              "ORDER BY id DESC",
              path, command, kFactsCodec);
    while (row.next()) {
      StoredUnit unit = read_unit(row, files);
      const bool same = std::all_of(unit.files.begin(), unit.files.end(), [&](const FileFacts& file) {
        return content(file.path) == file.content;
      });
      if (same && !unit.files.empty()) return unit;
    }
    return std::nullopt;
  });
}

Result<std::uint32_t> keep_units(Database& database, RevisionId revision, const std::vector<UnitId>& kept) {
  return written(database, [&](Connection& connection) -> Result<std::uint32_t> {
    const std::set<UnitId> keep(kept.begin(), kept.end());
    std::vector<std::int64_t> gone;
    for (Query row(connection, "SELECT unit FROM revision_unit WHERE revision = ?", revision.value);
         row.next();)
      if (!keep.contains({row.i64(0)})) gone.push_back(row.i64(0));
    for (const std::int64_t unit : gone)
      Query(connection, "DELETE FROM revision_unit WHERE revision = ? AND unit = ?", revision.value, unit)
          .run();
    return static_cast<std::uint32_t>(gone.size());
  });
}

Result<std::vector<StoredUnit>> revision_units(Database& database, RevisionId revision) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<StoredUnit>> {
    std::vector<StoredUnit> units;
    Files files(connection);
    Query row(connection,
              "SELECT u.id, u.path, u.command, u.errors, u.files, u.codec FROM revision_unit r JOIN unit u "
              "ON u.id = r.unit WHERE r.revision = ? ORDER BY u.path, u.command",
              revision.value);
    while (row.next()) units.push_back(read_unit(row, files));
    return units;
  });
}

}  // namespace simrt::history
