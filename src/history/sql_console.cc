#include "history/sql_console.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <string_view>

#include "history/connection.h"
#include "history/failure.h"

namespace simrt::history {
namespace {

using Clock = std::chrono::steady_clock;

int allow_reading(void*, int action, const char*, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

int past_deadline(void* deadline) {
  return Clock::now() > *static_cast<Clock::time_point*>(deadline) ? 1 : 0;
}

/// Authorizer and time limit for as long as the user's statement lives.
class Fence {
 public:
  Fence(sqlite3* handle, double seconds)
      : handle_(handle),
        deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
    sqlite3_set_authorizer(handle_, allow_reading, nullptr);
    sqlite3_progress_handler(handle_, 10000, past_deadline, &deadline_);
  }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence() {
    sqlite3_set_authorizer(handle_, nullptr, nullptr);
    sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
  }

 private:
  sqlite3* handle_;
  Clock::time_point deadline_;
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

SqlValue value_at(sqlite3_stmt* statement, int column) {
  const auto bytes = [&] {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement, column));
    return data ? std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)))
                : std::string();
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return bytes();
    case SQLITE_BLOB:
      return SqlBlob{bytes()};
    default:
      return std::monostate{};
  }
}

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::Usage, fmt::format("SQL: {}", why),
              "the documented views are v_tests, v_runs, v_functions, ... (see db_schema/README.md)");
}

Result<Statement> prepare(sqlite3* handle, const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v2(handle, sql.c_str(), static_cast<int>(sql.size()) + 1, &raw, &tail);
  Statement statement(raw);
  if (code == SQLITE_AUTH) return refuse("only reading is allowed here");
  if (code != SQLITE_OK) return refuse(sqlite3_errmsg(handle));
  if (!statement) return refuse("there is no statement");
  if (!sqlite3_stmt_readonly(statement.get())) return refuse("only reading is allowed here");
  const std::string_view rest(tail);
  if (!std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return std::isspace(c) || c == ';'; }))
    return refuse("one statement at a time");
  return statement;
}

}  // namespace

Result<SqlTable> run_sql(Database& database, const std::string& sql, SqlLimits limits) {
  return guarded(database, [&](Connection& connection) -> Result<SqlTable> {
    sqlite3* handle = connection.handle().getHandle();
    const Fence fence(handle, limits.seconds);
    Result<Statement> statement = prepare(handle, sql);
    if (!statement) return fail(statement.error());
    SqlTable table;
    const int columns = sqlite3_column_count(statement->get());
    for (int i = 0; i < columns; ++i) table.columns.emplace_back(sqlite3_column_name(statement->get(), i));
    for (;;) {
      const int code = sqlite3_step(statement->get());
      if (code == SQLITE_DONE) return table;
      if (code == SQLITE_ERROR) return refuse(sqlite3_errmsg(handle));
      if (code != SQLITE_ROW) return fail(describe_sqlite(code, sqlite3_errmsg(handle), database.path()));
      if (table.rows.size() == limits.rows) {
        table.truncated = true;
        return table;
      }
      auto& row = table.rows.emplace_back();
      for (int i = 0; i < columns; ++i) row.push_back(value_at(statement->get(), i));
    }
  });
}

}  // namespace simrt::history
