// `simrt history sql`: one read-only statement of the user's own.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "history/database.h"

namespace simrt::history {

/// Bytes that are not text.
struct SqlBlob {
  std::string bytes;
  bool operator==(const SqlBlob&) const = default;
};

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, SqlBlob>;

struct SqlTable {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
  bool truncated = false;  ///< the row limit cut the result
};

struct SqlLimits {
  std::uint64_t rows = 10000;
  double seconds = 60;  ///< then the query is stopped with an error
};

/// Runs one SELECT (or VALUES, or WITH ... SELECT). Everything else - writing, PRAGMA, ATTACH, a second
/// statement - is refused, whatever mode the database was opened in. Errors: Usage with SQLite's message;
/// History after the time limit.
Result<SqlTable> run_sql(Database& database, const std::string& sql, SqlLimits limits = {});

}  // namespace simrt::history
