// The files on the disk, as a SourceTree: tracked ones that exist, and untracked ones that git does not
// ignore.
#pragma once

#include <memory>

#include "git/library.h"
#include "model/source_tree.h"

namespace simrt::git {

/// Lists the work tree of `repository` now; contents are read on first use and then kept, so that one
/// analysis sees one version of each file. Opens its own handle on the repository.
Result<std::shared_ptr<const SourceTree>> read_work_tree(git_repository* repository);

}  // namespace simrt::git
