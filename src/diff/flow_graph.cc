#include "diff/flow_graph.h"

#include <algorithm>

#include "support/hash.h"

namespace simrt::diff {

FlowGraph::FlowGraph(const FunctionFacts& function)
    : function_(&function), arcs_(function.blocks.size()), predecessors_(function.blocks.size()) {
  for (Position at = 0; at < size(); ++at) {
    for (const Edge& edge : block(at).successors) {
      const Position target = position_of(edge.target);
      if (target == kNowhere) continue;
      Arc arc{edge.kind, edge.label, 0, target};
      for (const Arc& earlier : arcs_[at])
        arc.occurrence += earlier.kind == arc.kind && earlier.label == arc.label;
      arcs_[at].push_back(arc);
      predecessors_[target].push_back(at);
    }
  }
  entry_ = std::min(position_of(function.entry), size() == 0 ? 0 : static_cast<Position>(size() - 1));
  exit_ = position_of(function.exit) == kNowhere ? 0 : position_of(function.exit);
  if (size() != 0) find_roots_and_order();
}

Position FlowGraph::position_of(std::uint32_t ordinal) const {
  const auto& blocks = function_->blocks;
  const auto found =
      std::lower_bound(blocks.begin(), blocks.end(), ordinal,
                       [](const Block& block, std::uint32_t wanted) { return block.ordinal < wanted; });
  if (found == blocks.end() || found->ordinal != ordinal) return kNowhere;
  return static_cast<Position>(found - blocks.begin());
}

void FlowGraph::find_roots_and_order() {
  std::vector<bool> seen(size());
  std::vector<Position> postorder;
  const auto start_at = [&](Position root) {
    roots_.push_back(root);
    std::vector<Position> part;
    visit(root, seen, part);
    order_.insert(order_.end(), part.rbegin(), part.rend());
  };
  start_at(entry_);
  // Clang numbers blocks against the source order, so descending positions follow the source.
  for (Position at = static_cast<Position>(size()); at-- > 0;)
    if (!seen[at] && predecessors_[at].empty()) start_at(at);
  for (Position at = static_cast<Position>(size()); at-- > 0;)
    if (!seen[at]) start_at(at);  // an unreachable cycle
}

void FlowGraph::visit(Position root, std::vector<bool>& seen, std::vector<Position>& postorder) const {
  struct Frame {
    Position at;
    std::size_t arcs_left;
  };
  // The last arc is followed first: the reverse of the postorder then lists the first successor first.
  std::vector<Frame> stack{{root, arcs_[root].size()}};
  seen[root] = true;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.arcs_left == 0) {
      postorder.push_back(frame.at);
      stack.pop_back();
      continue;
    }
    const Position target = arcs_[frame.at][--frame.arcs_left].target;
    if (seen[target]) continue;
    seen[target] = true;
    stack.push_back({target, arcs_[target].size()});
  }
}

const Arc* FlowGraph::find_arc(Position from, const Arc& like) const {
  for (const Arc& arc : arcs_[from])
    if (arc.same_label(like)) return &arc;
  return nullptr;
}

bool FlowGraph::is_live_root(Position root) const {
  return root == entry_ || std::any_of(arcs_[root].begin(), arcs_[root].end(),
                                       [](const Arc& arc) { return arc.kind == EdgeKind::Exception; });
}

bool keeps_labels(const FlowGraph& before, Position old_block, const FlowGraph& after, Position new_block) {
  const Arc* last_handler = nullptr;
  for (const Arc& arc : before.arcs(old_block)) {
    const Arc* found = after.find_arc(new_block, arc);
    if (!found) return false;
    if (arc.kind != EdgeKind::Exception) continue;
    if (last_handler && found < last_handler) return false;  // the first handler that fits catches
    last_handler = found;
  }
  return true;
}

std::uint64_t code_hash(const Block& block) {
  std::uint64_t hash = hash_combine(block.terminator, block.elements.size());
  for (const Element& element : block.elements) hash = hash_combine(hash, element.hash);
  return hash;
}

std::uint64_t shape_hash(const FlowGraph& graph, Position at, int depth) {
  std::uint64_t hash = code_hash(graph.block(at));
  for (const Arc& arc : graph.arcs(at)) {
    hash = hash_combine(hash, hash_combine(static_cast<std::uint64_t>(arc.kind), arc.label));
    if (depth > 0) hash = hash_combine(hash, shape_hash(graph, arc.target, depth - 1));
  }
  return hash;
}

}  // namespace simrt::diff
