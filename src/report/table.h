// A plain table: aligned columns for people, an array of objects in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace simrt::report {

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;  ///< one cell a column; null prints as "-"
};

/// Header, rule and rows with columns as wide as their longest cell; numbers are right-aligned.
std::string render_text(const Table& table);
std::string render_json(const Table& table);

/// "12 ms", "3.40 s", "2.1 MB" for cells that people read.
std::string format_seconds(double seconds);
std::string format_bytes(double bytes);
/// "2026-11-28 01:22:15" in UTC.
std::string format_time(std::int64_t seconds_since_1970);

}  // namespace simrt::report
