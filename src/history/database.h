// One open history: a SQLite file in WAL mode, its schema version, and its transactions. Knows nothing of
// what the tables mean; every other header of this layer is a set of functions over a Database.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <utility>

#include "support/result.h"

namespace simrt::history {

class Connection;  // internal: the SQLite handle and its prepared statements

enum class OpenMode {
  ReadOnly,   ///< never writes, works on read-only media and while another process records
  ReadWrite,  ///< the file must exist; an older schema is migrated
  Create      ///< like ReadWrite, but a missing file (and its directory) is made
};

struct OpenOptions {
  OpenMode mode = OpenMode::ReadOnly;
  std::chrono::milliseconds busy_timeout{5000};  ///< how long to wait for another process's write
};

/// Not thread-safe: at most one thread uses a Database (and what was called on it) at a time. Several
/// processes may open one file; readers see the last committed state and never block the writer.
class Database {
 public:
  /// Errors: History when the file is missing, not a history, corrupt, locked or newer than this tool;
  /// Storage when the file system refuses. An older history is migrated, each step in one transaction; opened
  /// ReadOnly, it is migrated in a private copy in memory and the file stays as it is.
  static Result<Database> open(const std::filesystem::path& file, OpenOptions options);

  explicit Database(std::unique_ptr<Connection> connection);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::filesystem::path& path() const;
  bool read_only() const;
  /// Version of the open schema; the newest this binary knows.
  int schema_version() const;

  /// Looks for damage in every page (SQLite's quick_check): seconds on a large file. Error: History.
  Status verify();
  /// Moves the write-ahead log into the main file, so that the file alone can be copied.
  Status checkpoint();

  /// Runs `work` (returning a Result or Status) in one transaction: committed when it succeeds, rolled back
  /// when it fails. Nested calls become savepoints. Thousands of small writes belong into one transaction.
  template <class Work>
  std::invoke_result_t<Work&> transaction(Work work);

  Connection& connection() { return *connection_; }  ///< for this layer's own sources

 private:
  friend class Transaction;
  Status begin();
  Status commit();
  void rollback() noexcept;
  std::unique_ptr<Connection> connection_;
};

/// Rolls back unless finished by commit(); used by Database::transaction.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database), begun_(database.begin()) {
    open_ = begun_.has_value();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (open_) database_.rollback();
  }
  const Status& begun() const { return begun_; }
  Status commit() {
    Status done = database_.commit();
    if (done) open_ = false;
    return done;
  }

 private:
  Database& database_;
  Status begun_;
  bool open_ = false;
};

template <class Work>
std::invoke_result_t<Work&> Database::transaction(Work work) {
  Transaction transaction(*this);
  if (!transaction.begun()) return fail(transaction.begun().error());
  auto result = work();
  if (!result) return result;
  if (Status done = transaction.commit(); !done) return fail(done.error());
  return result;
}

}  // namespace simrt::history
