// Where a repository keeps its hooks: core.hooksPath, else the common directory's hooks/ (shared by linked
// work trees). Knows nothing of what a hook does.
#pragma once

#include <filesystem>

#include "support/result.h"

namespace simrt::git {

/// Absolute path; it need not exist yet. Errors: Repository, as Repository::open().
Result<std::filesystem::path> hooks_directory(const std::filesystem::path& inside_repository);

}  // namespace simrt::git
