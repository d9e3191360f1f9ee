#include "diff/function_diff.h"

#include "diff/branch_check.h"
#include "diff/flow_graph.h"
#include "diff/leftovers.h"
#include "diff/local_bijection.h"
#include "diff/matching.h"
#include "diff/reach.h"
#include "diff/resync.h"
#include "diff/walk.h"

namespace simrt::diff {
namespace {

BlockDiff block_diff(const FlowGraph& before, const FlowGraph& after, const Matching& matching, Position at,
                     Position old_block) {
  const NewBlockSide& side = matching.after[at];
  BlockDiff block;
  block.ordinal = after.block(at).ordinal;
  if (old_block != kNowhere) block.old_ordinal = before.block(old_block).ordinal;
  block.dangerous = side.dangerous;
  block.resynced = side.resynced;
  for (std::uint32_t i = 0; i < side.elements.size(); ++i) {
    ElementDiff element{matching.status(at, i), kNoMatch, kNoMatch};
    if (side.elements[i]) {
      element.old_block = before.block(side.elements[i].block).ordinal;
      element.old_element = side.elements[i].element;
    }
    block.elements.push_back(element);
  }
  return block;
}

void collect_old_side(const FlowGraph& before, const Matching& matching, FunctionDiff& diff) {
  for (Position at = 0; at < before.size(); ++at) {
    const BlockSide& side = matching.before[at];
    if (side.dangerous) diff.dangerous.push_back(before.block(at).ordinal);
    for (std::uint32_t i = 0; i < side.elements.size(); ++i)
      if (!side.elements[i]) diff.removed.push_back({before.block(at).ordinal, i});
  }
}

}  // namespace

bool unchanged(const FunctionFacts& before, const FunctionFacts& after) {
  return before.signature == after.signature && before.body == after.body && before.flags == after.flags &&
         !before.has(kBroken) && !after.has(kBroken);
}

FunctionDiff diff_function(const FunctionFacts& before, const FunctionFacts& after, bool with_resync) {
  const FlowGraph old_graph(before), new_graph(after);
  LocalBijection locals(before, after);
  Matching matching(old_graph, new_graph);
  Walk walk(old_graph, new_graph, locals, matching);
  walk.run();
  if (with_resync) resync(old_graph, new_graph, locals, matching, walk);
  pair_leftovers(old_graph, new_graph, locals, matching);
  const std::vector<Position> reached = old_blocks_reached(old_graph, new_graph, matching);
  mark_changed_branches(old_graph, new_graph, matching);

  // What the walk cannot see (another signature, an incomplete parse) enters through the entry.
  const bool differs_as_a_whole = before.signature != after.signature || before.flags != after.flags ||
                                  before.has(kBroken) || after.has(kBroken);
  if (differs_as_a_whole && old_graph.size() != 0) matching.before[old_graph.entry()].dangerous = true;
  if (differs_as_a_whole && new_graph.size() != 0) matching.after[new_graph.entry()].dangerous = true;

  FunctionDiff diff;
  diff.id = after.id;
  diff.old_id = before.id;
  diff.status = FunctionStatus::Changed;
  for (Position at = 0; at < new_graph.size(); ++at)
    diff.blocks.push_back(block_diff(old_graph, new_graph, matching, at, reached[at]));
  collect_old_side(old_graph, matching, diff);
  return diff;
}

}  // namespace simrt::diff
