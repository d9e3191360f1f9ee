// A function's CFG with dense positions instead of ordinals, predecessors, roots and a total order of its
// blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/facts.h"

namespace simrt::diff {

/// Index into FunctionFacts::blocks.
using Position = std::uint32_t;
inline constexpr Position kNowhere = UINT32_MAX;

struct Arc {
  EdgeKind kind = EdgeKind::FallThrough;
  std::uint64_t label = 0;
  std::uint32_t occurrence = 0;  ///< how many arcs of the same kind and label stand before this one
  Position target = 0;
  bool same_label(const Arc& other) const {
    return kind == other.kind && label == other.label && occurrence == other.occurrence;
  }
};

class FlowGraph {
 public:
  /// The facts must outlive the graph.
  explicit FlowGraph(const FunctionFacts& function);

  const FunctionFacts& function() const { return *function_; }
  std::size_t size() const { return function_->blocks.size(); }
  const Block& block(Position at) const { return function_->blocks[at]; }
  const std::vector<Arc>& arcs(Position at) const { return arcs_[at]; }
  const std::vector<Position>& predecessors(Position at) const { return predecessors_[at]; }
  Position entry() const { return entry_; }
  Position exit() const { return exit_; }
  /// The entry, then every block that is not reachable from it and starts a part of its own (catch dispatch
  /// blocks have no predecessor in Clang's CFG), in source order.
  const std::vector<Position>& roots() const { return roots_; }
  /// True for the entry and for what exceptions start; any other root is dead code.
  bool is_live_root(Position root) const;
  /// Reverse postorder from the roots; every block once.
  const std::vector<Position>& order() const { return order_; }
  /// Null when the block has no such arc.
  const Arc* find_arc(Position from, const Arc& like) const;
  const Element& element(Position block, std::uint32_t index) const {
    return function_->blocks[block].elements[index];
  }

 private:
  Position position_of(std::uint32_t ordinal) const;
  void find_roots_and_order();
  void visit(Position root, std::vector<bool>& seen, std::vector<Position>& postorder) const;

  const FunctionFacts* function_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::vector<Position>> predecessors_;
  std::vector<Position> roots_;
  std::vector<Position> order_;
  Position entry_ = 0, exit_ = 0;
};

/// True when every arc of `old_block` has one of the same label; handlers also in the same order.
bool keeps_labels(const FlowGraph& before, Position old_block, const FlowGraph& after, Position new_block);

/// Hash of a block's own code: elements and terminator, locals as placeholders.
std::uint64_t code_hash(const Block& block);
/// The same, followed by the labels and code of what it reaches within `depth` arcs.
std::uint64_t shape_hash(const FlowGraph& graph, Position at, int depth);

}  // namespace simrt::diff
