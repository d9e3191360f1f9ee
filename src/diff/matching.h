// What the walk, the resync and the leftovers agree on: which blocks and elements of two CFGs belong
// together.
#pragma once

#include <cstdint>
#include <vector>

#include "diff/flow_graph.h"
#include "model/change.h"

namespace simrt::diff {

struct ElementRef {
  Position block = kNowhere;
  std::uint32_t element = 0;
  explicit operator bool() const { return block != kNowhere; }
};

/// One block of either version.
struct BlockSide {
  Position partner = kNowhere;       ///< one to one
  std::vector<ElementRef> elements;  ///< partner of each element, of equal code or (altered) not
  bool dangerous = false;            ///< head of a dangerous edge (DejaVu)
};

struct NewBlockSide : BlockSide {
  std::vector<bool> altered;  ///< by element: has a partner, but differs from it
  bool resynced = false;
};

/// A pair of blocks at which the walk had to stop.
struct Stop {
  Position old_block, new_block;
};

struct Matching {
  std::vector<BlockSide> before;
  std::vector<NewBlockSide> after;
  std::vector<Stop> stops;  ///< in order of discovery

  Matching(const FlowGraph& old_graph, const FlowGraph& new_graph);
  bool both_free(Position old_block, Position new_block) const {
    return before[old_block].partner == kNowhere && after[new_block].partner == kNowhere;
  }
  void pair_blocks(Position old_block, Position new_block) {
    before[old_block].partner = new_block;
    after[new_block].partner = old_block;
  }
  void pair_elements(ElementRef old_element, ElementRef new_element, bool altered);
  /// Pairs the blocks and their elements one by one; they must be equal.
  void pair_whole(Position old_block, Position new_block);
  ElementStatus status(Position new_block, std::uint32_t element) const;
  /// The old block a new one stands for: its partner, else where its first paired element was; kNowhere = new
  /// code.
  Position home(Position new_block) const;
};

}  // namespace simrt::diff
