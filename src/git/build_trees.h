// Untracked directories that a build, or simrt, made in a work tree, where nobody told git to ignore them.
#pragma once

#include <map>
#include <string>

#include "git/library.h"

namespace simrt::git {

/// What lies in them is no change of anybody's. For one repository and one look at its work tree; not for
/// several threads at once.
class BuildTrees {
 public:
  explicit BuildTrees(git_repository* repository);

  /// `path`: of an untracked file, relative to the work tree. A build in the root itself is none: the sources
  /// are there as well.
  bool contain(const std::string& path);

 private:
  bool is_one(const std::string& directory);
  bool is_untracked_file(const std::string& path) const;

  std::string root_;  ///< with trailing slash
  IndexHandle index_;
  std::map<std::string, bool> known_;
};

}  // namespace simrt::git
