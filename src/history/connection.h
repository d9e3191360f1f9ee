// The SQLite handle behind a Database, with its cache of prepared statements. Internal to the layer.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simrt::history {

/// Where the open database comes from; decides what may be done with it.
struct Origin {
  std::filesystem::path file;  ///< as the user named it; used in messages
  bool read_only = false;
  std::filesystem::path scratch;  ///< directory to remove at the end; empty for none
  std::chrono::milliseconds busy_timeout{0};
};

class Connection {
 public:
  Connection(std::unique_ptr<SQLite::Database> handle, Origin origin);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  SQLite::Database& handle() { return *handle_; }
  const Origin& origin() const { return origin_; }
  int depth = 0;  ///< open transactions, savepoints included

  /// Hands out a prepared statement, from the cache when one is free.
  std::unique_ptr<SQLite::Statement> borrow(std::string_view sql);
  void give_back(std::string_view sql, std::unique_ptr<SQLite::Statement> statement);

 private:
  Origin origin_;
  std::unique_ptr<SQLite::Database> handle_;
  std::unordered_map<std::string, std::vector<std::unique_ptr<SQLite::Statement>>> free_;
};

}  // namespace simrt::history
