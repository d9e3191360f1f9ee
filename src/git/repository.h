// A git repository as the rest of the tool needs it: revisions, diffs, ancestry and file trees, read-only and
// without a checkout. Nothing of the repository is executed (no hooks, no external filters, no external diff
// tools).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/change.h"
#include "model/source_tree.h"
#include "support/result.h"

namespace simrt::git {

/// The pseudo-revision "what is on the disk now": tracked files as they are, and untracked ones that are not
/// ignored.
inline constexpr std::string_view kWorkTree = "WORKTREE";

/// A commit and its smallest number of parent steps from the commit the search started at (0 = itself).
struct Ancestor {
  std::string commit;
  std::uint32_t distance = 0;
};

/// One open repository. Cheap to copy; copies share the state. All members are thread-safe (they take turns).
/// Every `revision` may be anything `git rev-parse` knows (except ranges), or kWorkTree where it says so.
class Repository {
 public:
  /// Finds the repository that `directory` lies in, from any sub-directory, linked work tree or bare
  /// repository. Errors (Repository): none found; owned by another user (git's safe.directory); an
  /// unsupported object format.
  static Result<Repository> open(const std::filesystem::path& directory);

  /// Absolute path of the work tree without trailing slash; empty in a bare repository.
  std::string workdir() const;

  /// Full commit id of a revision (tags are peeled), or kWorkTree for kWorkTree.
  /// Errors (Repository): unknown, ambiguous, no commit yet, missing in a shallow clone, not a commit,
  /// damaged.
  Result<std::string> resolve(std::string_view revision) const;

  /// First line of the commit's message; of kWorkTree "uncommitted changes".
  Result<std::string> summary(std::string_view revision) const;

  /// Files that differ from `base` to `head`, ordered by path (the new one, else the old one), with renames
  /// (50 % similar or more) and hunks without context. Binary files and pure mode changes have no hunks.
  /// `head` may be kWorkTree, `base` may not (Usage). A moved submodule is shown as the changes inside it
  /// where both commits are available, else as one Modified entry with the submodule's path.
  Result<std::vector<FileChange>> diff(std::string_view base, std::string_view head) const;

  /// Best common ancestor; nullopt when the histories are unrelated (or, in a shallow clone, not known to be
  /// related).
  Result<std::optional<std::string>> merge_base(std::string_view a, std::string_view b) const;

  /// Whether `ancestor` is reachable from `descendant` through parents; a commit is its own ancestor.
  Result<bool> is_ancestor(std::string_view ancestor, std::string_view descendant) const;

  /// History is cut off: ancestors may be missing.
  bool is_shallow() const;

  /// The one of `candidates` (full ids) that is `revision` itself or its nearest ancestor, the younger among
  /// equals; nullopt when none is (within 20,000 commits). For kWorkTree the search starts at HEAD.
  Result<std::optional<Ancestor>> nearest_ancestor(std::string_view revision,
                                                   const std::set<std::string>& candidates) const;

  /// The files of a revision or of kWorkTree. The tree keeps what it needs of the repository open. Submodules
  /// appear with the files of their recorded commit (work tree: of their directory) where that is available,
  /// else as an empty directory. Work tree files are given as `git add` would store them (line ends converted
  /// as configured).
  Result<std::shared_ptr<const SourceTree>> tree(std::string_view revision) const;

 private:
  struct State;
  explicit Repository(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace simrt::git
