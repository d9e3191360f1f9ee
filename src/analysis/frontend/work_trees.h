// Other work trees of a repository (`git worktree add`): builds are made in them, of the same files.
// Internal to the analysis.
#pragma once

#include <string>
#include <vector>

namespace simrt::analysis {

/// Absolute paths of the repository's work trees but `root` itself, as git wrote them down; some may be gone.
/// Reads a few small files in .git; empty where `root` is no work tree.
std::vector<std::string> other_work_trees(const std::string& root);

}  // namespace simrt::analysis
