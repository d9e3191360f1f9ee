#include "analysis/mapping/source_paths.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "analysis/frontend/work_trees.h"

namespace simrt::analysis {
namespace {

namespace fs = std::filesystem;

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// True when `tail` equals the last path components of `path`.
bool is_path_suffix(std::string_view path, std::string_view tail) {
  if (!path.ends_with(tail)) return false;
  return path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/';
}

}  // namespace

SourcePaths::SourcePaths(const std::string& root, const std::vector<std::string>& known) {
  auto add_root = [&](std::string path) {
    if (path.empty()) return;
    if (path.back() != '/') path += '/';
    if (std::find(roots_.begin(), roots_.end(), path) == roots_.end()) roots_.push_back(std::move(path));
  };
  std::error_code error;
  add_root(fs::path(root).lexically_normal().string());
  const fs::path canonical = fs::weakly_canonical(root, error);
  if (!error) add_root(canonical.string());
  for (const std::string& tree : other_work_trees(root)) add_root(tree);
  // A work tree may lie in another one.
  std::stable_sort(roots_.begin(), roots_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  for (const std::string& path : known) by_name_[base_name(path)].push_back(path);
  for (auto& [name, paths] : by_name_) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
}

std::string SourcePaths::relative(const std::string& recorded) const {
  if (recorded.empty()) return {};
  const std::string path = fs::path(recorded).lexically_normal().string();
  for (const std::string& root : roots_) {
    if (path.starts_with(root)) return below_root(path.substr(root.size()));
  }
  std::error_code error;
  if (path.front() == '/' && fs::exists(path, error)) {
    const std::string canonical = fs::weakly_canonical(path, error).string();
    for (const std::string& root : roots_) {
      if (!error && canonical.starts_with(root)) return below_root(canonical.substr(root.size()));
    }
    return {};
  }
  return by_suffix(path);
}

/// A copy of sources or headers inside the repository (build-simrt/src/a.cc) stands for its
/// original.
std::string SourcePaths::below_root(std::string path) const {
  const auto candidates = by_name_.find(base_name(path));
  if (candidates == by_name_.end()) return path;
  std::string best;
  for (const std::string& known : candidates->second) {
    if (is_path_suffix(path, known) && known.size() > best.size()) best = known;
  }
  return best.empty() ? path : best;
}

std::string SourcePaths::by_suffix(std::string_view path) const {
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.starts_with("../")) path.remove_prefix(3);
  const auto candidates = by_name_.find(base_name(path));
  if (candidates == by_name_.end()) return {};
  std::string best;
  for (const std::string& known : candidates->second) {
    if (is_path_suffix(path, known) && known.size() > best.size()) best = known;
  }
  if (!best.empty()) return best;
  // The prefix map removed part of the repository path, too.
  for (const std::string& known : candidates->second) {
    if (!is_path_suffix(known, path)) continue;
    if (!best.empty()) return {};
    best = known;
  }
  return best;
}

}  // namespace simrt::analysis
