#include "diff/dominance.h"

#include <algorithm>

namespace simrt::diff {
namespace {

using Adjacency = std::vector<std::vector<Position>>;

Adjacency reversed(const Adjacency& successors) {
  Adjacency result(successors.size());
  for (Position from = 0; from < successors.size(); ++from)
    for (Position to : successors[from]) result[to].push_back(from);
  return result;
}

std::vector<Position> postorder_from(const Adjacency& successors, Position root) {
  std::vector<Position> result;
  std::vector<bool> seen(successors.size());
  std::vector<std::pair<Position, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [at, next] = stack.back();
    if (next == successors[at].size()) {
      result.push_back(at);
      stack.pop_back();
      continue;
    }
    const Position target = successors[at][next++];
    if (seen[target]) continue;
    seen[target] = true;
    stack.emplace_back(target, 0);
  }
  return result;
}

/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". kNowhere for what `root` does not reach.
std::vector<Position> dominator_tree(const Adjacency& successors, Position root) {
  const Adjacency predecessors = reversed(successors);
  const std::vector<Position> postorder = postorder_from(successors, root);
  std::vector<std::size_t> number(successors.size());
  for (std::size_t i = 0; i < postorder.size(); ++i) number[postorder[i]] = i;
  std::vector<Position> dominator(successors.size(), kNowhere);
  dominator[root] = root;
  const auto common = [&](Position a, Position b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = postorder.rbegin(); it != postorder.rend(); ++it) {
      if (*it == root) continue;
      Position best = kNowhere;
      for (Position from : predecessors[*it]) {
        if (dominator[from] == kNowhere) continue;
        best = best == kNowhere ? from : common(best, from);
      }
      if (best != dominator[*it]) dominator[*it] = best, changed = true;
    }
  }
  return dominator;
}

/// Lets every block reach `end`: of each part that cannot leave, the block last in order gets an arc to it.
void connect_to_end(const FlowGraph& graph, Adjacency& successors, Position end) {
  std::vector<bool> reaches(successors.size());
  std::vector<Position> work;
  const Adjacency predecessors = reversed(successors);
  const auto spread_from = [&](Position start) {
    reaches[start] = true;
    work.assign(1, start);
    while (!work.empty()) {
      const Position at = work.back();
      work.pop_back();
      for (Position from : predecessors[at])
        if (!reaches[from]) reaches[from] = true, work.push_back(from);
    }
  };
  spread_from(end);
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
    if (reaches[*it]) continue;
    successors[*it].push_back(end);
    spread_from(*it);
  }
}

}  // namespace

Dominance::Dominance(const FlowGraph& graph) : start_(static_cast<Position>(graph.size())) {
  const Position end = start_ + 1;
  Adjacency successors(graph.size() + 2);
  for (Position at = 0; at < graph.size(); ++at)
    for (const Arc& arc : graph.arcs(at)) successors[at].push_back(arc.target);
  for (Position root : graph.roots()) successors[start_].push_back(graph.is_live_root(root) ? root : end);
  successors[start_].push_back(end);
  if (graph.size() != 0) successors[graph.exit()].push_back(end);
  connect_to_end(graph, successors, end);

  dominator_ = dominator_tree(successors, start_);
  const std::vector<Position> post = dominator_tree(reversed(successors), end);
  dependences_.resize(graph.size());
  for (Position from = 0; from <= start_; ++from) {
    if (successors[from].size() < 2 || dominator_[from] == kNowhere) continue;
    for (std::uint32_t arc = 0; arc < successors[from].size(); ++arc) {
      for (Position at = successors[from][arc]; at != post[from] && at != end; at = post[at])
        if (at < start_) dependences_[at].push_back({from, arc});
    }
  }
  for (auto& list : dependences_) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

}  // namespace simrt::diff
