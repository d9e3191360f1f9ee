#include "history/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <ctime>

#include "history/failure.h"
#include "history/migrations.h"

namespace simrt::history {
namespace {

int pragma(SQLite::Database& handle, const char* name) {
  return handle.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

}  // namespace

int checked_schema_version(SQLite::Database& handle, const std::filesystem::path& file) {
  const int version = pragma(handle, "user_version");
  if (pragma(handle, "application_id") != kApplicationId) {
    const bool empty = handle.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (version == 0 && empty) return 0;
    throw Failure{{ErrorCode::History,
                   fmt::format("'{}' is a database, but not a simrt history", file.string()),
                   "give the path of another file"}};
  }
  const int newest = migrations().back().version;
  if (version > newest)
    throw Failure{{ErrorCode::History,
                   fmt::format("the history '{}' was written by a newer simrt (schema {}, this one knows {})",
                               file.string(), version, newest),
                   "use that newer simrt, or another history file"}};
  return version;
}

void migrate(SQLite::Database& handle, const std::filesystem::path& file) {
  for (const Migration& step : migrations()) {
    if (checked_schema_version(handle, file) >= step.version) continue;
    SQLite::Transaction transaction(handle, SQLite::TransactionBehavior::IMMEDIATE);
    // Another process may have been faster while this one waited for the lock.
    if (checked_schema_version(handle, file) >= step.version) continue;
    handle.exec(step.sql.data());
    SQLite::Statement note(handle,
                           "INSERT INTO schema_migration(version, name, applied_at) VALUES (?, ?, ?)");
    note.bind(1, step.version);
    note.bind(2, std::string(step.name));
    note.bind(3, static_cast<std::int64_t>(std::time(nullptr)));
    note.exec();
    handle.exec(fmt::format("PRAGMA user_version = {}", step.version));
    transaction.commit();
  }
}

}  // namespace simrt::history
