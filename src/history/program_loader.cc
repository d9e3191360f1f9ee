// Loading of whole revisions: program, points, single units.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "history/facts_codec.h"
#include "history/facts_store.h"
#include "history/failure.h"
#include "history/version_reader.h"
#include "support/task_pool.h"

namespace simrt::history {
namespace {

template <class T>
T checked(Result<T> result) {
  if (!result) throw Failure{result.error()};
  return std::move(*result);
}
void checked(const Status& status) {
  if (!status) throw Failure{status.error()};
}

Failure missing(std::string_view what) {
  return {{ErrorCode::History, fmt::format("the history is damaged: {} is missing", what),
           "restore it from a copy, or move it away and record again"}};
}

void require_codec(const LinkedUnit& unit) {
  if (unit.codec == kFactsCodec) return;
  throw Failure{{ErrorCode::History,
                 "this revision was recorded by a version of simrt with another format of facts",
                 "run `simrt record` again"}};
}

LinkedUnit read_linked(const Query& row) {
  return {{row.i64(0)},
          row.text(1),
          row.u64(2),
          row.u32(3),
          static_cast<std::uint8_t>(row.i64(4)),
          unpack_links(row.bytes(5)),
          unpack_links(row.bytes(6))};
}

std::vector<FunctionPoints> points_for(Connection& connection, const std::vector<UnitedFunction>& functions) {
  std::vector<FunctionPoints> all;
  all.reserve(functions.size());
  Query row(connection, "SELECT points FROM function_points WHERE version = ?");
  for (const UnitedFunction& function : functions) {
    FunctionPoints points{function.id, {}};
    row.again();
    row.bind(function.link.version);
    if (row.next()) checked(decode_points(row.bytes(0), function.link.line, points));
    all.push_back(std::move(points));
  }
  return all;
}

/// In parallel: most of the time of loading goes here.
FunctionList decode_all(std::vector<FunctionReader::Stored> stored) {
  constexpr std::size_t kChunk = 256;
  std::vector<FunctionList::Shared> decoded(stored.size());
  run_tasks((stored.size() + kChunk - 1) / kChunk, 0, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kChunk; i < std::min(stored.size(), (chunk + 1) * kChunk); ++i)
      decoded[i] = std::make_shared<const FunctionFacts>(FunctionReader::decoded(std::move(stored[i])));
  });
  FunctionList functions;
  functions.reserve(decoded.size());
  for (FunctionList::Shared& function : decoded) functions.push_back(std::move(function));
  return functions;
}

}  // namespace

std::vector<LinkedUnit> linked_units(Connection& connection, RevisionId revision) {
  std::vector<LinkedUnit> units;
  Query row(
      connection,
      "SELECT u.id, u.path, u.command, u.errors, u.codec, u.functions, u.variables FROM revision_unit r "
      "JOIN unit u ON u.id = r.unit WHERE r.revision = ? ORDER BY u.path, u.command",
      revision.value);
  while (row.next()) {
    units.push_back(read_linked(row));
    require_codec(units.back());
  }
  return units;
}

FunctionReader::FunctionReader(Connection& connection)
    : query_(connection,
             "SELECT function, body, name, file, lines, facts FROM function_version WHERE id = ?") {}

void FunctionReader::seek(std::int64_t version) {
  if (version == current_) return;
  current_ = 0;
  query_.again();
  query_.bind(version);
  if (!query_.next()) throw missing("a function");
  current_ = version;
}

FunctionReader::Key FunctionReader::key(std::int64_t version) {
  auto [known, fresh] = keys_.try_emplace(version);
  if (fresh) {
    seek(version);
    known->second = {{query_.u64(0)}, query_.u64(1)};
  }
  return known->second;
}

FunctionReader::Stored FunctionReader::stored(const Link& link) {
  seek(link.version);
  Stored stored;
  FunctionFacts& function = stored.facts;
  function.id = {query_.u64(0)};
  function.body = query_.u64(1);
  function.name = query_.text(2);
  function.file = query_.text(3);
  function.begin_line = link.line;
  function.end_line = link.line + query_.u32(4);
  stored.blob = query_.bytes(5);
  return stored;
}

FunctionFacts FunctionReader::decoded(Stored stored) {
  checked(decode_function(stored.blob, stored.facts));
  return std::move(stored.facts);
}

std::string FunctionReader::name(std::int64_t version) {
  seek(version);
  return query_.text(2);
}

std::string FunctionReader::file(std::int64_t version) {
  seek(version);
  return query_.text(3);
}

VariableReader::VariableReader(Connection& connection)
    : query_(connection, "SELECT variable, facts FROM variable_version WHERE id = ?") {}

void VariableReader::seek(std::int64_t version) {
  if (version == current_) return;
  current_ = 0;
  query_.again();
  query_.bind(version);
  if (!query_.next()) throw missing("a variable");
  current_ = version;
}

VariableId VariableReader::key(std::int64_t version) {
  auto [known, fresh] = keys_.try_emplace(version);
  if (fresh) {
    seek(version);
    known->second = {query_.u64(0)};
  }
  return known->second;
}

VariableFacts VariableReader::read(const Link& link) {
  seek(link.version);
  VariableFacts variable;
  variable.id = {query_.u64(0)};
  variable.at.line = link.line;
  checked(decode_variable(query_.bytes(1), variable));
  return variable;
}

std::vector<UnitedFunction> united_functions(Connection& connection, RevisionId revision,
                                             FunctionReader& reader) {
  std::vector<UnitedFunction> functions;
  Uniter uniter;
  for (const LinkedUnit& unit : linked_units(connection, revision)) {
    for (const Link& link : unit.functions) {
      const FunctionReader::Key key = reader.key(link.version);
      const Uniter::Place place = uniter.place(key, unit.path);
      if (place.fresh) functions.push_back({place.id, key.body, link});
    }
  }
  std::sort(functions.begin(), functions.end(),
            [](const UnitedFunction& a, const UnitedFunction& b) { return a.id < b.id; });
  return functions;
}

Result<Program> load_program(Database& database, RevisionId revision) {
  return guarded(database, [&](Connection& connection) -> Result<Program> {
    Program program;
    std::map<std::pair<std::string, std::uint64_t>, std::vector<FileFacts>> files;
    for (StoredUnit& unit : checked(revision_units(database, revision)))
      files[{unit.path, unit.command}] = std::move(unit.files);
    FunctionReader functions(connection);
    VariableReader variables(connection);
    Uniter uniter;
    std::vector<FunctionReader::Stored> stored;
    std::unordered_set<VariableId> known;
    for (const LinkedUnit& unit : linked_units(connection, revision)) {
      UnitSummary summary{
          unit.path, unit.command, unit.errors, std::move(files[{unit.path, unit.command}]), {}};
      for (const Link& link : unit.functions) {
        const Uniter::Place place = uniter.place(functions.key(link.version), unit.path);
        if (place.fresh) {
          stored.push_back(functions.stored(link));
          stored.back().facts.id = place.id;
        }
        summary.functions.push_back(place.id);
      }
      for (const Link& link : unit.variables)
        if (known.insert(variables.key(link.version)).second)
          program.variables.push_back(variables.read(link));
      program.units.push_back(std::move(summary));
    }
    program.functions = decode_all(std::move(stored));
    program.index();
    return program;
  });
}

Result<std::vector<FunctionPoints>> load_points(Database& database, RevisionId revision) {
  return guarded(database, [&](Connection& connection) -> Result<std::vector<FunctionPoints>> {
    FunctionReader reader(connection);
    return points_for(connection, united_functions(connection, revision, reader));
  });
}

Result<UnitFacts> load_unit(Database& database, UnitId id) {
  return guarded(database, [&](Connection& connection) -> Result<UnitFacts> {
    Query row(connection,
              "SELECT id, path, command, errors, codec, functions, variables, files, messages FROM unit "
              "WHERE id = ?",
              id.value);
    if (!row.next()) throw missing("a unit");
    const LinkedUnit linked = read_linked(row);
    require_codec(linked);
    UnitFacts unit;
    unit.path = linked.path;
    unit.command = linked.command;
    unit.errors = linked.errors;
    unit.messages = unpack_texts(row.bytes(8));
    Query file(connection, "SELECT path, content, declarations FROM file_version WHERE id = ?");
    for (const std::int64_t version : unpack_rows(row.bytes(7))) {
      file.again();
      file.bind(version);
      if (!file.next()) throw missing("a file");
      unit.files.push_back({file.text(0), file.u64(1), file.u64(2)});
    }
    FunctionReader functions(connection);
    std::vector<UnitedFunction> versions;
    for (const Link& link : linked.functions) {
      unit.functions.push_back(functions.read(link));
      versions.push_back({unit.functions.back().id, unit.functions.back().body, link});
    }
    unit.points = points_for(connection, versions);
    VariableReader variables(connection);
    for (const Link& link : linked.variables) unit.variables.push_back(variables.read(link));
    return unit;
  });
}

}  // namespace simrt::history
