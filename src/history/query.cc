#include "history/query.h"

#include <sqlite3.h>

namespace simrt::history {

Query::Query(Connection& connection, std::string_view sql)
    : connection_(connection), sql_(sql), statement_(connection.borrow(sql)) {}

Query::~Query() { connection_.give_back(sql_, std::move(statement_)); }

void Query::run() {
  while (statement_->executeStep()) {
  }
  again();
}

void Query::again() {
  statement_->reset();
  statement_->clearBindings();
}

std::string_view Query::bytes(int column) const {
  const SQLite::Column cell = statement_->getColumn(column);
  // getBlob() leaves text as it is; sqlite3_column_bytes() must come after it.
  const auto* data = static_cast<const char*>(cell.getBlob());
  return data ? std::string_view(data, static_cast<std::size_t>(cell.getBytes())) : std::string_view();
}

void Query::copy_columns(const Query& row, int position) {
  const int columns = row.statement_->getColumnCount();
  for (int i = 0; i < columns; ++i, ++position) {
    const SQLite::Column cell = row.statement_->getColumn(i);
    if (cell.isInteger())
      put(position, cell.getInt64());
    else if (cell.isFloat())
      put(position, cell.getDouble());
    else if (cell.isText())
      put(position, row.bytes(i));
    else if (cell.isBlob())
      put(position, Blob{row.bytes(i)});
    else
      put(position, nullptr);
  }
}

void Query::put(int position, std::string_view text) {
  // SQLiteCpp's bindNoCopy(text) wants a NUL-terminated or std::string value; a copy is the safe general
  // case.
  statement_->bind(position, std::string(text));
}

std::int64_t last_row(Connection& connection) {
  return sqlite3_last_insert_rowid(connection.handle().getHandle());
}

int changes(Connection& connection) { return sqlite3_changes(connection.handle().getHandle()); }

}  // namespace simrt::history
