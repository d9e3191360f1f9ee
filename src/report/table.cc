#include "report/table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace simrt::report {
namespace {

std::string cell_text(const nlohmann::ordered_json& cell) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
  if (cell.is_number_float()) return fmt::format("{:.3g}", cell.get<double>());
  return cell.dump();
}

/// Characters, not bytes: names may be UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return right ? space + text : text + space;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& right) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i ? "  " : "") + padded(cells[i], widths[i], right[i]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string render_text(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> right(table.columns.size(), !table.rows.empty());
  for (const std::string& column : table.columns) widths.push_back(width_of(column));
  std::vector<std::vector<std::string>> texts;
  for (const auto& row : table.rows) {
    std::vector<std::string>& cells = texts.emplace_back();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const nlohmann::ordered_json cell = i < row.size() ? row[i] : nlohmann::ordered_json();
      cells.push_back(cell_text(cell));
      widths[i] = std::max(widths[i], width_of(cells.back()));
      if (!cell.is_number() && !cell.is_null()) right[i] = false;
    }
  }
  std::string out = line_of(table.columns, widths, right);
  std::vector<std::string> rule;
  for (std::size_t width : widths) rule.emplace_back(width, '-');
  out += line_of(rule, widths, right);
  for (const auto& cells : texts) out += line_of(cells, widths, right);
  return out;
}

std::string render_json(const Table& table) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < table.columns.size() && i < row.size(); ++i)
      object[table.columns[i]] = row[i];
    json.push_back(std::move(object));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string format_seconds(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.2f} s", seconds);
}

std::string format_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string format_time(std::int64_t seconds_since_1970) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds_since_1970)));
}

}  // namespace simrt::report
