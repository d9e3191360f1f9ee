// Ancestry over the commits that are present: unlike libgit2's own walks it stops at a shallow clone's
// boundary instead of failing there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "git/library.h"
#include "git/repository.h"

namespace simrt::git {

class CommitGraph {
 public:
  /// `repository` must outlive the graph.
  explicit CommitGraph(git_repository* repository);

  bool shallow() const { return !boundary_.empty(); }

  /// The candidate at the fewest steps from child to parent, the younger (then the larger id) among equals;
  /// reads no commit beyond it. Gives up after 20,000 commits.
  Result<std::optional<Ancestor>> nearest(const git_oid& start, const std::set<std::string>& candidates);
  Result<std::optional<std::string>> merge_base(const git_oid& a, const git_oid& b);
  Result<bool> is_ancestor(const git_oid& ancestor, const git_oid& descendant);

 private:
  struct Commit {
    git_time_t time = 0;
    std::vector<std::string> parents;  ///< hex; none at the boundary
  };
  Result<const Commit*> commit(const std::string& id);
  Result<std::set<std::string>> reachable(const std::string& start);
  /// Everything reachable, children before parents.
  Result<std::vector<std::string>> topological(const git_oid& start);

  git_repository* repository_;
  std::set<std::string> boundary_;
  std::map<std::string, Commit> commits_;
};

}  // namespace simrt::git
