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

  /// At most `limit` commits from `start`, children before parents, younger first among equals.
  Result<std::vector<Ancestor>> ancestors(const git_oid& start, std::size_t limit);
  Result<std::optional<std::string>> merge_base(const git_oid& a, const git_oid& b);
  Result<bool> is_ancestor(const git_oid& ancestor, const git_oid& descendant);

 private:
  struct Commit {
    git_time_t time = 0;
    std::vector<std::string> parents;  ///< hex; none at the boundary
  };
  Result<const Commit*> commit(const std::string& id);
  /// The youngest `limit` commits reachable from `start`, by commit time.
  Result<std::set<std::string>> youngest(const std::string& start, std::size_t limit);

  git_repository* repository_;
  std::set<std::string> boundary_;
  std::map<std::string, Commit> commits_;
};

}  // namespace simrt::git
