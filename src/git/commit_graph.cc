#include "git/commit_graph.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>

namespace simrt::git {

namespace {

constexpr std::size_t kSearchLimit = 20000;  // commits; who recorded nothing nearer records anew

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

Result<std::set<std::string>> CommitGraph::reachable(const std::string& start) {
  std::set<std::string> seen{start};
  std::vector<std::string> open{start};
  while (!open.empty()) {
    const auto current = commit(open.back());
    if (!current) return fail(current.error());
    open.pop_back();
    for (const std::string& parent : (*current)->parents)
      if (seen.insert(parent).second) open.push_back(parent);
  }
  return seen;
}

Result<std::optional<Ancestor>> CommitGraph::nearest(const git_oid& start,
                                                     const std::set<std::string>& candidates) {
  std::set<std::string> seen{hex(start)};
  std::vector<std::string> level{hex(start)};
  for (std::uint32_t distance = 0; !level.empty() && seen.size() < kSearchLimit; ++distance) {
    std::optional<std::pair<git_time_t, std::string>> best;
    for (const std::string& id : level) {
      if (!candidates.contains(id)) continue;
      const auto found = commit(id);
      if (!found) return fail(found.error());
      best = std::max(best, std::optional(std::pair((*found)->time, id)));
    }
    if (best) return std::optional(Ancestor{best->second, distance});
    std::vector<std::string> parents;
    for (const std::string& id : level) {
      const auto current = commit(id);
      if (!current) return fail(current.error());
      for (const std::string& parent : (*current)->parents)
        if (seen.insert(parent).second) parents.push_back(parent);
    }
    level = std::move(parents);
  }
  return std::optional<Ancestor>();
}

Result<std::vector<std::string>> CommitGraph::topological(const git_oid& start) {
  const std::string first = hex(start);
  const auto reached = reachable(first);
  if (!reached) return fail(reached.error());
  // Commit times may lie, so the order comes from the edges (Kahn), not from the clock.
  std::map<std::string, std::size_t> children;
  for (const std::string& id : *reached) {
    for (const std::string& parent : commits_.at(id).parents) ++children[parent];
  }
  std::vector<std::string> result, ready{first};
  while (!ready.empty()) {
    const std::string id = ready.back();
    ready.pop_back();
    result.push_back(id);
    for (const std::string& parent : commits_.at(id).parents)
      if (--children[parent] == 0) ready.push_back(parent);
  }
  return result;
}

Result<std::optional<std::string>> CommitGraph::merge_base(const git_oid& a, const git_oid& b) {
  if (!shallow()) {
    git_oid base;
    const int rc = git_merge_base(&base, repository_, &a, &b);
    if (rc == 0) return std::optional(hex(base));
    if (rc == GIT_ENOTFOUND) return std::optional<std::string>();
    return fail(library_error(rc, "cannot compute the merge base"));
  }
  const auto of_b = reachable(hex(b));
  if (!of_b) return fail(of_b.error());
  const auto of_a = topological(a);
  if (!of_a) return fail(of_a.error());
  // In topological order the first common commit has no common descendant.
  for (const std::string& candidate : *of_a) {
    if (of_b->contains(candidate)) return std::optional(candidate);
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
  const auto reached = reachable(hex(descendant));
  if (!reached) return fail(reached.error());
  return reached->contains(hex(ancestor));
}

}  // namespace simrt::git
