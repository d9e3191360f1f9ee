#include "history/failure.h"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <exception>
#include <new>

namespace simrt::history {

Error describe_sqlite(int code, const std::string& detail, const std::filesystem::path& file) {
  const std::string name = file.string();
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::History, fmt::format("the history '{}' is locked by another process", name),
              "wait until the other simrt command has finished, then try again"};
    case SQLITE_NOTADB:
      return {ErrorCode::History, fmt::format("'{}' is not a database", name),
              "move the file away and record again, or restore it from a copy"};
    case SQLITE_CORRUPT:
      return {ErrorCode::History, fmt::format("the history '{}' is damaged ({})", name, detail),
              "restore it from a copy, or move it away and record again"};
    case SQLITE_FULL:
      return {ErrorCode::Storage, fmt::format("no space left for the history '{}'", name),
              "free some space, or run `simrt history prune`; what was committed before is safe"};
    case SQLITE_READONLY:
      return {ErrorCode::Storage, fmt::format("the history '{}' cannot be written: it is read-only", name),
              "check the permissions of the file and of its directory"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::Storage, fmt::format("cannot open the history '{}' ({})", name, detail),
              "check the permissions of the file and of its directory"};
    case SQLITE_IOERR:
      return {ErrorCode::Storage, fmt::format("input/output error in the history '{}' ({})", name, detail),
              "check the disk; what was committed before is safe"};
    case SQLITE_INTERRUPT:
      return {ErrorCode::History, "the query took too long and was stopped",
              "narrow it, or raise the time limit"};
    default:
      return {ErrorCode::Internal, fmt::format("history '{}': {} (SQLite {})", name, detail, code), {}};
  }
}

Error describe_current_exception(const std::filesystem::path& file) {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.error;
  } catch (const SQLite::Exception& exception) {
    return describe_sqlite(exception.getErrorCode(), exception.what(), file);
  } catch (const std::filesystem::filesystem_error& exception) {
    return {ErrorCode::Storage, exception.what(), {}};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::Storage, "out of memory while reading the history", {}};
  } catch (const std::exception& exception) {
    return {ErrorCode::Internal, fmt::format("history '{}': {}", file.string(), exception.what()), {}};
  }
}

}  // namespace simrt::history
