// File changes between two commits, or between a commit and the work tree, submodules included.
#pragma once

#include <vector>

#include "git/library.h"
#include "model/change.h"

namespace simrt::git {

/// `head` null = the work tree. Sorted by new path, else old path.
Result<std::vector<FileChange>> diff_commits(git_repository* repository, const git_oid& base,
                                             const git_oid* head);

}  // namespace simrt::git
