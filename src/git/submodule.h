// Where a submodule's own repository is, if it was fetched at all.
#pragma once

#include <string>

#include "git/library.h"

namespace simrt::git {

/// The repository of the submodule at `path` of `parent`: its checkout, or the store under .git/modules that
/// an earlier checkout left behind. Null when neither exists.
RepositoryHandle open_submodule(git_repository* parent, const std::string& path);

/// Directory of the repository's object database.
std::string objects_directory(git_repository* repository);

}  // namespace simrt::git
