// A prepared statement in use: bind, step, read columns. Internal to the layer. Throws SQLite::Exception.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "history/connection.h"

namespace simrt::history {

/// Bytes bound or read as a BLOB.
struct Blob {
  std::string_view bytes;
};

class Query {
 public:
  /// `sql` must outlive the query; string literals do.
  Query(Connection& connection, std::string_view sql);
  template <class... Values>
  Query(Connection& connection, std::string_view sql, const Values&... values) : Query(connection, sql) {
    bind(values...);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  /// Binds positions 1, 2, ...; the values must stay alive until the query is stepped through.
  template <class... Values>
  Query& bind(const Values&... values) {
    int position = 0;
    (put(++position, values), ...);
    return *this;
  }

  /// Binds the current row of `row`, column by column, from `position` on.
  void copy_columns(const Query& row, int position);

  bool next() { return statement_->executeStep(); }
  /// Runs a statement without rows, then makes it ready for other values.
  void run();
  /// Ready for other values.
  void again();

  std::int64_t i64(int column) const { return statement_->getColumn(column).getInt64(); }
  std::uint64_t u64(int column) const { return static_cast<std::uint64_t>(i64(column)); }
  std::uint32_t u32(int column) const { return static_cast<std::uint32_t>(i64(column)); }
  bool flag(int column) const { return i64(column) != 0; }
  double real(int column) const { return statement_->getColumn(column).getDouble(); }
  bool null(int column) const { return statement_->getColumn(column).isNull(); }
  std::string text(int column) const { return std::string(bytes(column)); }
  /// Text or blob; valid until the next step.
  std::string_view bytes(int column) const;

 private:
  void put(int position, std::integral auto value) {
    statement_->bind(position, static_cast<std::int64_t>(value));
  }
  void put(int position, double value) { statement_->bind(position, value); }
  void put(int position, std::string_view text);
  void put(int position, const std::string& text) { put(position, std::string_view(text)); }
  void put(int position, const char* text) { put(position, std::string_view(text)); }
  void put(int position, Blob blob) {
    // A null pointer would bind NULL, and an empty list is not an unknown one.
    statement_->bindNoCopy(position, blob.bytes.data() ? blob.bytes.data() : "",
                           static_cast<int>(blob.bytes.size()));
  }
  void put(int position, std::nullptr_t) { statement_->bind(position); }

  Connection& connection_;
  std::string_view sql_;
  std::unique_ptr<SQLite::Statement> statement_;
};

/// Row id of the last INSERT.
std::int64_t last_row(Connection& connection);
/// Rows changed by the last statement.
int changes(Connection& connection);

}  // namespace simrt::history
