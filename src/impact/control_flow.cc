#include "impact/control_flow.h"

#include <algorithm>

namespace simrt::impact {

ControlFlow::ControlFlow(const ProgramIndex& index, std::uint32_t function)
    : index_(index), function_(function) {
  const FunctionFacts& facts = index.function(function);
  successors_.resize(facts.blocks.size());
  predecessors_.resize(facts.blocks.size());
  for (std::uint32_t block = 0; block < facts.blocks.size(); ++block) {
    for (const Edge& edge : facts.blocks[block].successors) {
      const std::uint32_t target = index.block_position(function, edge.target);
      if (target == kNone || edge.kind == EdgeKind::Unreachable) continue;
      auto& known = successors_[block];
      if (std::find(known.begin(), known.end(), target) != known.end()) continue;
      known.push_back(target);
      predecessors_[target].push_back(block);
    }
  }
}

std::vector<bool> ControlFlow::reachable(std::uint32_t block, Direction direction) const {
  const auto& next = direction == Direction::Forward ? successors_ : predecessors_;
  std::vector<bool> seen(next.size(), false);
  std::vector<std::uint32_t> work{block};
  while (!work.empty()) {
    const std::uint32_t from = work.back();
    work.pop_back();
    for (std::uint32_t to : next[from])
      if (!seen[to]) seen[to] = true, work.push_back(to);
  }
  return seen;
}

std::vector<std::uint32_t> ControlFlow::elements_from(std::uint32_t element, Direction direction) const {
  const std::uint32_t home = index_.where(element).block;
  const std::vector<bool> blocks = reachable(home, direction);
  std::vector<std::uint32_t> result;
  for (std::uint32_t block = 0; block < blocks.size(); ++block) {
    const Range range = index_.elements_of_block(function_, block);
    for (std::uint32_t e = range.begin; e < range.end; ++e) {
      const bool in_order = direction == Direction::Forward ? e > element : e < element;
      if (blocks[block] || (block == home && in_order)) result.push_back(e);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool ControlFlow::is_condition(std::uint32_t element) const {
  const std::uint32_t block = index_.where(element).block;
  return branches(block) && element + 1 == index_.elements_of_block(function_, block).end;
}

/// Cooper, Harvey, Kennedy (2001) on the reversed CFG. Blocks that never reach the exit get an edge to it.
void ControlFlow::compute_post_dominators() const {
  const auto count = static_cast<std::uint32_t>(successors_.size());
  const std::uint32_t exit = count;
  std::vector<std::vector<std::uint32_t>> next(successors_);
  const std::uint32_t real_exit = index_.block_position(function_, index_.function(function_).exit);
  for (std::uint32_t block = 0; block < count; ++block)
    if (block == real_exit || next[block].empty()) next[block].push_back(exit);

  std::vector<std::uint32_t> order;  // post-order of the reversed graph, the exit last
  std::vector<std::uint32_t> rank(count + 1, kNone);
  std::vector<bool> seen(count + 1, false);
  std::vector<std::vector<std::uint32_t>> back(count + 1);
  for (std::uint32_t block = 0; block < count; ++block)
    for (std::uint32_t to : next[block]) back[to].push_back(block);
  const auto walk = [&](std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
    seen[root] = true;
    while (!stack.empty()) {
      auto& [block, edge] = stack.back();
      if (edge == back[block].size()) {
        order.push_back(block);
        stack.pop_back();
        continue;
      }
      const std::uint32_t from = back[block][edge++];
      if (!seen[from]) seen[from] = true, stack.emplace_back(from, 0);
    }
  };
  // Endless loops: let one of their blocks leave, so that every block reaches the exit.
  std::vector<bool> leaves(count + 1, false);
  std::vector<std::uint32_t> work{exit};
  leaves[exit] = true;
  for (std::uint32_t endless = 0;; ++endless) {
    while (!work.empty()) {
      const std::uint32_t block = work.back();
      work.pop_back();
      for (std::uint32_t from : back[block])
        if (!leaves[from]) leaves[from] = true, work.push_back(from);
    }
    while (endless < count && leaves[endless]) ++endless;
    if (endless == count) break;
    next[endless].push_back(exit);
    back[exit].push_back(endless);
    leaves[endless] = true;
    work.push_back(endless);
  }
  walk(exit);
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;

  post_dominator_.assign(count + 1, kNone);
  post_dominator_[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      if (*block == exit) continue;
      std::uint32_t best = kNone;
      for (std::uint32_t to : next[*block]) {
        if (post_dominator_[to] == kNone) continue;
        std::uint32_t other = to;
        if (best == kNone) {
          best = other;
          continue;
        }
        while (best != other) {
          while (rank[best] < rank[other]) best = post_dominator_[best];
          while (rank[other] < rank[best]) other = post_dominator_[other];
        }
      }
      if (post_dominator_[*block] != best) post_dominator_[*block] = best, changed = true;
    }
  }
}

std::vector<std::uint32_t> ControlFlow::controlled_by(std::uint32_t block) const {
  std::vector<std::uint32_t> result;
  if (!branches(block)) return result;
  if (post_dominator_.empty()) compute_post_dominators();
  const auto exit = static_cast<std::uint32_t>(successors_.size());
  for (std::uint32_t successor : successors_[block])
    for (std::uint32_t at = successor; at != exit && at != kNone && at != post_dominator_[block];
         at = post_dominator_[at])
      result.push_back(at);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace simrt::impact
