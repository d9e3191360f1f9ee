#include "diff/renames.h"

namespace simrt::diff {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/';
}

bool stands_alone(std::string_view text, std::size_t at, std::size_t length) {
  return (at == 0 || !is_name_character(text[at - 1])) &&
         (at + length == text.size() || !is_name_character(text[at + length]));
}

std::string_view last_component(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Replaces whole occurrences; false when there is none.
bool replace_name(std::string& text, std::string_view from, std::string_view to) {
  bool found = false;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    if (!stands_alone(text, at, from.size())) {
      ++at;
      continue;
    }
    text.replace(at, from.size(), to);
    at += to.size();
    found = true;
  }
  return found;
}

}  // namespace

Renames::Renames(const std::vector<std::pair<std::string, std::string>>& renamed_files)
    : new_of_(renamed_files.begin(), renamed_files.end()) {}

const std::string& Renames::renamed(const std::string& file) const {
  const auto found = new_of_.find(file);
  return found == new_of_.end() ? file : found->second;
}

std::string Renames::renamed_usr(std::string_view usr) const {
  std::string result(usr);
  for (const auto& [from, to] : new_of_) {
    if (replace_name(result, from, to)) continue;
    replace_name(result, last_component(from), last_component(to));
  }
  return result;
}

}  // namespace simrt::diff
