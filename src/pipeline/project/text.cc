#include "pipeline/project/text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "support/files.h"

namespace simrt::project {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string text_of(const std::string& path, std::size_t limit) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > limit) return {};
  return read_file(path).value_or("");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::map<std::string, std::string> cmake_cache(std::string_view text) {
  std::map<std::string, std::string> entries;
  for (std::string_view line : lines_of(text)) {
    line = trimmed(line);
    if (line.empty() || line.starts_with('#') || line.starts_with("//")) continue;
    const auto colon = line.find(':');
    const auto equals = line.find('=', colon == std::string_view::npos ? 0 : colon);
    if (colon == std::string_view::npos || equals == std::string_view::npos) continue;
    entries.emplace(line.substr(0, colon), line.substr(equals + 1));
  }
  return entries;
}

std::optional<std::string> cmake_set(std::string_view text, std::string_view name) {
  const std::string opening = "set(" + std::string(name) + " ";
  for (std::string_view line : lines_of(text)) {
    line = trimmed(line);
    if (!line.starts_with(opening) || !line.ends_with(')')) continue;
    line = trimmed(line.substr(opening.size(), line.size() - opening.size() - 1));
    if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return std::nullopt;
}

bool calls_cmake_command(std::string_view text, std::string_view command) {
  for (std::string_view line : lines_of(text)) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.size() <= command.size()) continue;
    const bool same = std::equal(command.begin(), command.end(), line.begin(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
    if (same && trimmed(line.substr(command.size())).starts_with('(')) return true;
  }
  return false;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace simrt::project
