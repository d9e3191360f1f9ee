#include "git/build_trees.h"

#include <filesystem>

namespace simrt::git {

BuildTrees::BuildTrees(git_repository* repository) {
  if (const char* root = git_repository_workdir(repository)) root_ = root;
  git_index* index = nullptr;
  if (git_repository_index(&index, repository) == 0) index_.reset(index);
}

bool BuildTrees::contain(const std::string& path) {
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string directory = path.substr(0, at);
    const auto [known, fresh] = known_.try_emplace(directory, false);
    if (fresh) known->second = is_one(directory);
    if (known->second) return true;
  }
  return false;
}

// CMake and Meson leave these in every directory that they build in; Meson tells git to ignore its own.
bool BuildTrees::is_one(const std::string& directory) {
  if (directory == ".simrt" || directory.ends_with("/.simrt")) return true;
  for (const char* sign : {"/CMakeCache.txt", "/meson-private/coredata.dat"})
    if (is_untracked_file(directory + sign)) return true;
  return false;
}

bool BuildTrees::is_untracked_file(const std::string& path) const {
  std::error_code error;
  if (!std::filesystem::is_regular_file(root_ + path, error)) return false;
  return !index_ || git_index_get_bypath(index_.get(), path.c_str(), 0) == nullptr;
}

}  // namespace simrt::git
