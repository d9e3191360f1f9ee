// Repository-relative names for the file names that debug information records, whatever root, prefix map or
// relative directory the build used. Internal to mapping.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simrt::analysis {

class SourcePaths {
 public:
  /// `root`: absolute path of the repository; `known`: repository-relative paths of the program's sources.
  SourcePaths(const std::string& root, const std::vector<std::string>& known);

  /// The repository-relative path, or "" when the file is not part of the repository. In order: below the
  /// root or another work tree of the repository (as written, then with symlinks resolved; copies inside the
  /// repository stand for the original); outside but present on disk: not ours; else the known path that is
  /// the longest suffix of the name, or whose only suffix the name is.
  std::string relative(const std::string& recorded) const;

 private:
  std::string below_root(std::string path) const;
  std::string by_suffix(std::string_view path) const;

  // As given and canonical, and the repository's other work trees; each with a trailing '/', the longest
  // first.
  std::vector<std::string> roots_;
  std::unordered_map<std::string, std::vector<std::string>> by_name_;  // base name -> known paths, sorted
};

}  // namespace simrt::analysis
