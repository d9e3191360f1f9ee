#include "analysis/mapping/dominators.h"

#include <algorithm>
#include <utility>

namespace simrt::analysis {
namespace {

constexpr std::uint32_t kUndefined = UINT32_MAX;

using Graph = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

/// The dispatch of a try statement: nothing but edges to handlers. Calls reach it over no edge (a throw
/// expression may), so nothing in the body of the try dominates it.
bool is_dispatch(const Block& block) {
  return block.elements.empty() && !block.successors.empty() &&
         std::all_of(block.successors.begin(), block.successors.end(),
                     [](const Edge& edge) { return edge.kind == EdgeKind::Exception; });
}

std::vector<std::uint32_t> roots_of(const FunctionFacts& function) {
  std::vector<std::uint32_t> roots{function.entry};
  for (const Block& block : function.blocks) {
    if (block.ordinal != function.entry && is_dispatch(block)) roots.push_back(block.ordinal);
  }
  return roots;
}

}  // namespace

Dominators::Dominators(const FunctionFacts& function) {
  Graph successors;
  Graph predecessors;
  for (const Block& block : function.blocks) {
    successors[block.ordinal];
    for (const Edge& edge : block.successors) {
      if (edge.kind == EdgeKind::Unreachable) continue;
      successors[block.ordinal].push_back(edge.target);
      predecessors[edge.target].push_back(block.ordinal);
    }
  }
  const std::vector<std::uint32_t> roots = roots_of(function);

  // Post order by an explicit stack: generated functions can be tens of thousands of blocks long.
  for (std::uint32_t root : roots) {
    if (!number_.try_emplace(root, kUndefined).second) continue;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
    while (!stack.empty()) {
      auto& [ordinal, next] = stack.back();
      const std::vector<std::uint32_t>& targets = successors[ordinal];
      if (next < targets.size()) {
        const std::uint32_t target = targets[next++];
        if (number_.try_emplace(target, kUndefined).second) stack.emplace_back(target, 0);
        continue;
      }
      number_[ordinal] = static_cast<std::uint32_t>(ordinals_.size());
      ordinals_.push_back(ordinal);
      stack.pop_back();
    }
  }

  const auto virtual_root = static_cast<std::uint32_t>(ordinals_.size());
  parent_.assign(virtual_root + 1, kUndefined);
  parent_[virtual_root] = virtual_root;
  for (std::uint32_t root : roots) parent_[number_[root]] = virtual_root;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t node = virtual_root; node-- > 0;) {
      const bool is_root = std::find(roots.begin(), roots.end(), ordinals_[node]) != roots.end();
      std::uint32_t best = is_root ? virtual_root : kUndefined;
      for (std::uint32_t predecessor : predecessors[ordinals_[node]]) {
        auto found = number_.find(predecessor);
        if (found == number_.end() || parent_[found->second] == kUndefined) continue;
        best = best == kUndefined ? found->second : meet(best, found->second);
      }
      if (best == parent_[node]) continue;
      parent_[node] = best;
      changed = true;
    }
  }
}

std::uint32_t Dominators::meet(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    while (a < b) a = parent_[a];
    while (b < a) b = parent_[b];
  }
  return a;
}

bool Dominators::reachable(std::uint32_t ordinal) const { return number_.count(ordinal) != 0; }

std::optional<std::uint32_t> Dominators::parent(std::uint32_t ordinal) const {
  auto found = number_.find(ordinal);
  if (found == number_.end()) return std::nullopt;
  const std::uint32_t parent = parent_[found->second];
  if (parent >= ordinals_.size()) return std::nullopt;
  return ordinals_[parent];
}

}  // namespace simrt::analysis
