#include "history/export.h"

#include <SQLiteCpp/Column.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "history/failure.h"
#include "history/query.h"

namespace simrt::history {
namespace {

nlohmann::ordered_json value_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isNull()) return nullptr;
  return std::string(column.getText());
}

Status export_view(Connection& connection, const std::string& view, const LineSink& sink) {
  SQLite::Statement shape(connection.handle(), fmt::format("SELECT * FROM {} LIMIT 0", view));
  std::string order;
  for (int i = 1; i <= shape.getColumnCount(); ++i) order += fmt::format("{}{}", i == 1 ? "" : ", ", i);
  SQLite::Statement rows(connection.handle(), fmt::format("SELECT * FROM {} ORDER BY {}", view, order));
  while (rows.executeStep()) {
    nlohmann::ordered_json row;
    for (int i = 0; i < rows.getColumnCount(); ++i) row[rows.getColumnName(i)] = value_of(rows.getColumn(i));
    const nlohmann::ordered_json line = {{"view", view}, {"row", std::move(row)}};
    // Names come from file systems and programs: bytes that are not UTF-8 are replaced, not refused.
    if (Status done = sink(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        !done)
      return done;
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> view_names(Database& database) {
  return guarded(database, [](Connection& connection) -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    Query row(connection,
              "SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*' ORDER BY name");
    while (row.next()) names.push_back(row.text(0));
    return names;
  });
}

Status export_views(Database& database, const std::vector<std::string>& views, const LineSink& sink) {
  const Result<std::vector<std::string>> known = view_names(database);
  if (!known) return fail(known.error());
  for (const std::string& view : views)
    if (std::find(known->begin(), known->end(), view) == known->end())
      return fail(ErrorCode::Usage, fmt::format("there is no view '{}'", view),
                  fmt::format("views: {}", fmt::join(*known, ", ")));
  return guarded(database, [&](Connection& connection) -> Status {
    for (const std::string& view : views.empty() ? *known : views)
      if (Status done = export_view(connection, view, sink); !done) return done;
    return {};
  });
}

}  // namespace simrt::history
