#include "history/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <system_error>

#include "history/connection.h"
#include "history/failure.h"
#include "history/migrations.h"
#include "history/query.h"

namespace simrt::history {

Connection::Connection(std::unique_ptr<SQLite::Database> handle, Origin origin)
    : origin_(std::move(origin)), handle_(std::move(handle)) {}

Connection::~Connection() {
  free_.clear();  // statements must go before their database
  handle_.reset();
  if (!origin_.scratch.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(origin_.scratch, ignored);
  }
}

std::unique_ptr<SQLite::Statement> Connection::borrow(std::string_view sql) {
  auto& idle = free_[std::string(sql)];
  if (idle.empty()) return std::make_unique<SQLite::Statement>(*handle_, std::string(sql));
  auto statement = std::move(idle.back());
  idle.pop_back();
  return statement;
}

void Connection::give_back(std::string_view sql, std::unique_ptr<SQLite::Statement> statement) {
  // tryReset, because reset() repeats the failure of the last step as an exception.
  statement->tryReset();
  statement->clearBindings();
  free_[std::string(sql)].push_back(std::move(statement));
}

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

const std::filesystem::path& Database::path() const { return connection_->origin().file; }
bool Database::read_only() const { return connection_->origin().read_only; }
int Database::schema_version() const { return migrations().back().version; }

Status Database::verify() {
  return guarded(*this, [&](Connection& connection) -> Status {
    Query check(connection, "PRAGMA quick_check(1)");
    if (check.next() && check.text(0) != "ok")
      return fail(describe_sqlite(SQLITE_CORRUPT, check.text(0), path()));
    return {};
  });
}

Status Database::checkpoint() {
  return guarded(*this, [](Connection& connection) -> Status {
    Query(connection, "PRAGMA wal_checkpoint(TRUNCATE)").run();
    return {};
  });
}

Status Database::begin() {
  return guarded(*this, [&](Connection& connection) -> Status {
    if (read_only())
      return fail(ErrorCode::Internal,
                  fmt::format("the history '{}' was opened for reading only", path().string()));
    // IMMEDIATE takes the write lock at once: a reader that becomes a writer half-way could not wait for its
    // turn.
    if (connection.depth == 0)
      Query(connection, "BEGIN IMMEDIATE").run();
    else
      connection.handle().exec(fmt::format("SAVEPOINT level{}", connection.depth));
    ++connection.depth;
    return {};
  });
}

Status Database::commit() {
  return guarded(*this, [&](Connection& connection) -> Status {
    if (connection.depth == 1)
      Query(connection, "COMMIT").run();
    else
      connection.handle().exec(fmt::format("RELEASE level{}", connection.depth - 1));
    --connection.depth;
    return {};
  });
}

void Database::rollback() noexcept {
  // Failing here means that SQLite rolled back already (disk full, I/O error): nothing is left to undo.
  sqlite3* handle = connection_->handle().getHandle();
  --connection_->depth;
  const std::string sql = connection_->depth == 0
                              ? std::string("ROLLBACK")
                              : fmt::format("ROLLBACK TO level{0}; RELEASE level{0}", connection_->depth);
  sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
}

}  // namespace simrt::history
