#include "config/glob.h"

#include <fnmatch.h>

#include <algorithm>

namespace simrt::config {
namespace {

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

/// Row by row: reachable[j] = the first i pattern parts match the first j path parts. No backtracking, so a
/// pattern with many `**` costs no more than parts x parts.
bool match_components(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  std::vector<bool> reachable(path.size() + 1, false);
  reachable[0] = true;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::vector<bool> next(path.size() + 1, false);
    const bool last = i + 1 == pattern.size();
    for (std::size_t j = 0; j <= path.size(); ++j) {
      if (pattern[i] == "**") {
        // A trailing `**` asks for at least one component: "docs/**" is what is in docs.
        next[j] = (j > 0 && (next[j - 1] || reachable[j - 1])) || (reachable[j] && !(last && i > 0));
      } else if (j > 0) {
        next[j] = reachable[j - 1] && fnmatch(pattern[i].c_str(), path[j - 1].c_str(), 0) == 0;
      }
    }
    reachable = std::move(next);
  }
  return reachable[path.size()];
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return false;
  std::vector<std::string> parts = components(pattern);
  if (pattern.ends_with('/')) {
    parts.emplace_back("**");
  } else if (pattern.find('/') == std::string_view::npos) {
    parts.insert(parts.begin(), "**");
  }
  return match_components(parts, components(path));
}

bool any_glob_match(const std::vector<std::string>& patterns, std::string_view path) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [path](const std::string& pattern) { return glob_match(pattern, path); });
}

bool name_match(std::string_view pattern, std::string_view name) {
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

std::string glob_problem(std::string_view pattern) {
  if (pattern.empty()) return "an empty pattern matches nothing";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (i + 1 == pattern.size()) return "a backslash at the end";
      ++i;
    } else if (pattern[i] == '[') {
      // "[]a]" and "[!]a]" hold a literal bracket first.
      std::size_t first = i + 1;
      if (first < pattern.size() && (pattern[first] == '!' || pattern[first] == '^')) ++first;
      const auto close = first < pattern.size() ? pattern.find(']', first + 1) : std::string_view::npos;
      if (close == std::string_view::npos) return "'[' without ']'";
      i = close;
    }
  }
  return {};
}

}  // namespace simrt::config
