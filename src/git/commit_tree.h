// The files of one commit, as a SourceTree over its blobs.
#pragma once

#include <memory>
#include <string>

#include "git/library.h"
#include "model/source_tree.h"

namespace simrt::git {

/// Walks the whole tree of `commit` (and of its submodules, where they are available); contents are read on
/// demand. The result is independent of `repository`.
Result<std::shared_ptr<const SourceTree>> read_commit_tree(git_repository* repository, const git_oid& commit);

}  // namespace simrt::git
