#include "git/commit_graph.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace simrt::git {

namespace {

// Pops the youngest commit first; the id makes the order total.
using Queue = std::priority_queue<std::pair<git_time_t, std::string>>;

std::set<std::string> read_boundary(git_repository* repository) {
  std::set<std::string> boundary;
  std::ifstream file(without_slash(git_repository_commondir(repository)) + "/shallow");
  for (std::string line; std::getline(file, line);) {
    if (line.size() >= GIT_OID_HEXSZ) boundary.insert(line.substr(0, GIT_OID_HEXSZ));
  }
  return boundary;
}

}  // namespace

CommitGraph::CommitGraph(git_repository* repository)
    : repository_(repository), boundary_(read_boundary(repository)) {}

Result<const CommitGraph::Commit*> CommitGraph::commit(const std::string& id) {
  if (const auto known = commits_.find(id); known != commits_.end()) return &known->second;
  git_oid oid;
  parse_id(id, oid);
  git_commit* raw = nullptr;
  if (const int rc = git_commit_lookup(&raw, repository_, &oid); rc < 0) {
    return fail(library_error(rc, "cannot read commit " + id));
  }
  const CommitHandle handle(raw);
  Commit result;
  result.time = git_commit_time(raw);
  if (!boundary_.contains(id)) {
    for (unsigned i = 0; i < git_commit_parentcount(raw); ++i) {
      result.parents.push_back(hex(*git_commit_parent_id(raw, i)));
    }
  }
  return &commits_.emplace(id, std::move(result)).first->second;
}

Result<std::set<std::string>> CommitGraph::youngest(const std::string& start, std::size_t limit) {
  std::set<std::string> seen{start};
  std::set<std::string> taken;
  const auto first = commit(start);
  if (!first) return fail(first.error());
  Queue queue;
  queue.emplace((*first)->time, start);
  while (!queue.empty() && taken.size() < limit) {
    const std::string id = queue.top().second;
    queue.pop();
    taken.insert(id);
    const auto current = commit(id);
    if (!current) return fail(current.error());
    for (const std::string& parent : (*current)->parents) {
      if (!seen.insert(parent).second) continue;
      const auto next = commit(parent);
      if (!next) return fail(next.error());
      queue.emplace((*next)->time, parent);
    }
  }
  return taken;
}

Result<std::vector<Ancestor>> CommitGraph::ancestors(const git_oid& start, std::size_t limit) {
  std::vector<Ancestor> result;
  if (limit == 0) return result;
  const std::string first = hex(start);
  const auto taken = youngest(first, limit);
  if (!taken) return fail(taken.error());

  // Commit times may lie, so the order among the taken ones comes from the edges (Kahn), not from the clock.
  std::map<std::string, std::size_t> children;
  for (const std::string& id : *taken) {
    for (const std::string& parent : commits_.at(id).parents) ++children[parent];
  }
  std::map<std::string, std::uint32_t> distance{{first, 0}};
  Queue ready;
  ready.emplace(commits_.at(first).time, first);
  while (!ready.empty()) {
    const std::string id = ready.top().second;
    ready.pop();
    const std::uint32_t here = distance.at(id);
    result.push_back({id, here});
    for (const std::string& parent : commits_.at(id).parents) {
      if (!taken->contains(parent)) continue;
      const auto known = distance.try_emplace(parent, here + 1).first;
      known->second = std::min(known->second, here + 1);
      if (--children[parent] == 0) ready.emplace(commits_.at(parent).time, parent);
    }
  }
  return result;
}

Result<std::optional<std::string>> CommitGraph::merge_base(const git_oid& a, const git_oid& b) {
  const auto no_limit = std::numeric_limits<std::size_t>::max();
  if (!shallow()) {
    git_oid base;
    const int rc = git_merge_base(&base, repository_, &a, &b);
    if (rc == 0) return std::optional(hex(base));
    if (rc == GIT_ENOTFOUND) return std::optional<std::string>();
    return fail(library_error(rc, "cannot compute the merge base"));
  }
  const auto of_b = youngest(hex(b), no_limit);
  if (!of_b) return fail(of_b.error());
  const auto of_a = ancestors(a, no_limit);
  if (!of_a) return fail(of_a.error());
  // In topological order the first common commit has no common descendant.
  for (const Ancestor& candidate : *of_a) {
    if (of_b->contains(candidate.commit)) return std::optional(candidate.commit);
  }
  return std::optional<std::string>();
}

Result<bool> CommitGraph::is_ancestor(const git_oid& ancestor, const git_oid& descendant) {
  if (git_oid_equal(&ancestor, &descendant) != 0) return true;
  if (!shallow()) {
    const int rc = git_graph_descendant_of(repository_, &descendant, &ancestor);
    if (rc < 0) return fail(library_error(rc, "cannot walk the history"));
    return rc == 1;
  }
  const auto reachable = youngest(hex(descendant), std::numeric_limits<std::size_t>::max());
  if (!reachable) return fail(reachable.error());
  return reachable->contains(hex(ancestor));
}

}  // namespace simrt::git
