// Opening a history: the three modes, the fallbacks of read-only opening, and the settings of a connection.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <system_error>

#include "history/connection.h"
#include "history/database.h"
#include "history/failure.h"
#include "history/migrations.h"
#include "history/schema.h"
#include "history/sql_functions.h"

namespace simrt::history {
namespace {

namespace fs = std::filesystem;
using Handle = std::unique_ptr<SQLite::Database>;

Handle open_handle(const std::string& name, int flags, std::chrono::milliseconds busy_timeout) {
  auto handle = std::make_unique<SQLite::Database>(name, flags, static_cast<int>(busy_timeout.count()));
  sqlite3_extended_result_codes(handle->getHandle(), 1);
  return handle;
}

/// SQLite opens lazily; this reads the header, so that every problem of the file appears now.
Handle touched(Handle handle) {
  handle->execAndGet("SELECT count(*) FROM sqlite_schema");
  return handle;
}

std::string immutable_uri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

bool has_log(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file.string() + "-wal", error);
  return !error && size > 0;
}

/// A private copy of file and log, for a directory where SQLite cannot make the index of the log.
Handle open_copy(const fs::path& file, Origin& origin) {
  std::string pattern = (fs::temp_directory_path() / "simrt-history-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw fs::filesystem_error("mkdtemp", pattern, std::error_code(errno, std::generic_category()));
  origin.scratch = pattern;
  const fs::path copy = origin.scratch / "history.db";
  fs::copy_file(file, copy);
  fs::copy_file(file.string() + "-wal", copy.string() + "-wal");
  fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
  fs::permissions(copy.string() + "-wal", fs::perms::owner_write, fs::perm_options::add);
  return touched(open_handle(copy.string(), SQLite::OPEN_READWRITE, origin.busy_timeout));
}

/// Read-only: as usual (sees what a recorder commits); on read-only media as an immutable file, since nobody
/// can change it there; with an unfinished log on such media from a copy.
Handle open_for_reading(const fs::path& file, Origin& origin) {
  try {
    return touched(open_handle(file.string(), SQLite::OPEN_READONLY, origin.busy_timeout));
  } catch (const SQLite::Exception& exception) {
    const int code = exception.getErrorCode() & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw;
    if (access(file.c_str(), R_OK) != 0) throw;
  }
  if (has_log(file)) return open_copy(file, origin);
  return touched(
      open_handle(immutable_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, origin.busy_timeout));
}

/// The whole database in memory, migrated there.
Handle migrated_copy(SQLite::Database& source, const Origin& origin) {
  auto copy = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  sqlite3_backup* backup = sqlite3_backup_init(copy->getHandle(), "main", source.getHandle(), "main");
  const int code = backup ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(copy->getHandle());
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) throw Failure{describe_sqlite(code, sqlite3_errstr(code), origin.file)};
  register_sql_functions(*copy);
  migrate(*copy, origin.file);
  return copy;
}

Handle open_reader(const fs::path& file, Origin& origin) {
  Handle handle = open_for_reading(file, origin);
  const int version = checked_schema_version(*handle, file);
  if (version == 0)
    throw Failure{{ErrorCode::History, fmt::format("the history '{}' is empty", file.string()),
                   "run `simrt record` first"}};
  if (version < migrations().back().version) handle = migrated_copy(*handle, origin);
  register_sql_functions(*handle);
  handle->exec("PRAGMA query_only = ON; PRAGMA cache_size = -65536");
  return handle;
}

Handle open_writer(const fs::path& file, OpenMode mode, const Origin& origin) {
  const int create = mode == OpenMode::Create ? SQLite::OPEN_CREATE : 0;
  if (create && file.has_parent_path()) fs::create_directories(file.parent_path());
  Handle handle = touched(open_handle(file.string(), SQLite::OPEN_READWRITE | create, origin.busy_timeout));
  checked_schema_version(*handle, file);  // refuse a foreign or newer file before anything of it is touched
  register_sql_functions(*handle);
  // NORMAL: a commit survives the death of any process; only a power cut can take the last ones, never the
  // file.
  handle->exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536");
  if (sqlite3_db_readonly(handle->getHandle(), "main") == 1)
    throw Failure{describe_sqlite(SQLITE_READONLY, {}, file)};
  migrate(*handle, file);
  return handle;
}

}  // namespace

Result<Database> Database::open(const fs::path& file, OpenOptions options) {
  Origin origin{file, options.mode == OpenMode::ReadOnly, {}, options.busy_timeout};
  try {
    std::error_code error;
    const bool exists = fs::exists(file, error);
    if (fs::is_directory(file, error))
      return fail(ErrorCode::History, fmt::format("'{}' is a directory, not a history", file.string()));
    if (!exists && options.mode != OpenMode::Create)
      return fail(ErrorCode::History, fmt::format("there is no history '{}'", file.string()),
                  "run `simrt record` first");
    Handle handle = origin.read_only ? open_reader(file, origin) : open_writer(file, options.mode, origin);
    return Database(std::make_unique<Connection>(std::move(handle), std::move(origin)));
  } catch (...) {
    std::error_code ignored;
    if (!origin.scratch.empty()) fs::remove_all(origin.scratch, ignored);
    return fail(describe_current_exception(file));
  }
}

}  // namespace simrt::history
