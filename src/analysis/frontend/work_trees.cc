#include "analysis/frontend/work_trees.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace simrt::analysis {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

/// The directory that all work trees share. In a linked work tree .git is a file that names its own one.
fs::path common_directory(const fs::path& root) {
  std::error_code error;
  fs::path git = root / ".git";
  if (fs::is_directory(git, error)) return git;
  constexpr std::string_view kPrefix = "gitdir: ";
  const std::string line = first_line(git);
  if (!line.starts_with(kPrefix)) return {};
  const fs::path own = root / line.substr(kPrefix.size());
  const std::string common = first_line(own / "commondir");
  return common.empty() ? fs::path() : (own / common).lexically_normal();
}

}  // namespace

std::vector<std::string> other_work_trees(const std::string& root) {
  fs::path common = common_directory(root);
  if (common.empty()) return {};
  if (!common.has_filename()) common = common.parent_path();
  std::vector<std::string> trees;
  if (common.filename() == ".git") trees.push_back(common.parent_path().string());
  std::error_code error;
  for (fs::directory_iterator at(common / "worktrees", error), end; !error && at != end;
       at.increment(error)) {
    const std::string git = first_line(at->path() / "gitdir");
    if (!git.empty()) trees.push_back((at->path() / git).lexically_normal().parent_path().string());
  }
  const auto same = [&](const std::string& tree) {
    std::error_code ignored;
    return fs::path(tree) == fs::path(root) || fs::equivalent(tree, root, ignored);
  };
  std::erase_if(trees, same);
  std::sort(trees.begin(), trees.end());
  return trees;
}

}  // namespace simrt::analysis
