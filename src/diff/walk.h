// The synchronised walk of two CFGs along identically labelled edges (DejaVu; Rothermel and Harrold, 1997).
#pragma once

#include <deque>

#include "diff/flow_graph.h"
#include "diff/local_bijection.h"
#include "diff/matching.h"

namespace simrt::diff {

class Walk {
 public:
  /// All must outlive the walk.
  Walk(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals, Matching& matching);

  /// From the entries, then from the other roots; marks dangerous edges. Stops at each mismatch.
  void run();
  /// Goes on from a pair of blocks that was matched behind a mismatch; what it matches is marked as resynced,
  /// and no further edge becomes dangerous.
  void resume(Position old_block, Position new_block);

 private:
  void pair_roots();
  void follow_queue();
  void follow_edges(Position old_block, Position new_block);
  /// Matches the pair and queues it, or records a stop.
  void step(Position old_block, Position new_block);
  void mark_dangerous(Position old_block, Position new_block);
  void missing_in_new(const Arc& old_arc);
  void missing_in_old(Position old_block, const Arc& new_arc);

  const FlowGraph& before_;
  const FlowGraph& after_;
  LocalBijection& locals_;
  Matching& matching_;
  std::deque<Stop> queue_;
  bool behind_mismatch_ = false;
};

/// The old block that is left towards `arc`, a case label that the old switch lacks: its default, else
/// kNowhere.
Position default_target(const FlowGraph& before, Position old_block, const Arc& new_arc);

}  // namespace simrt::diff
