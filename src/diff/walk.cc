#include "diff/walk.h"

#include "diff/alignment.h"

namespace simrt::diff {
namespace {

/// Try dispatch blocks are all alike: what they lead to tells them apart, then their handlers' types.
struct Shape {
  std::uint64_t deep, shallow;
};

std::vector<Shape> shapes_of(const FlowGraph& graph) {
  std::vector<Shape> result;
  for (Position root : graph.roots())
    result.push_back({shape_hash(graph, root, 3), shape_hash(graph, root, 0)});
  return result;
}

}  // namespace

Walk::Walk(const FlowGraph& before, const FlowGraph& after, LocalBijection& locals, Matching& matching)
    : before_(before), after_(after), locals_(locals), matching_(matching) {}

void Walk::run() {
  if (before_.size() == 0 || after_.size() == 0) return;
  step(before_.entry(), after_.entry());
  follow_queue();
  pair_roots();
  follow_queue();
}

void Walk::resume(Position old_block, Position new_block) {
  behind_mismatch_ = true;
  matching_.after[new_block].resynced = true;
  queue_.push_back({old_block, new_block});
  follow_queue();
}

void Walk::pair_roots() {
  const auto& old_roots = before_.roots();
  const auto& new_roots = after_.roots();
  const auto old_shapes = shapes_of(before_), new_shapes = shapes_of(after_);
  const auto weight = [&](std::size_t i, std::size_t j) -> std::uint32_t {
    if (old_shapes[i + 1].deep == new_shapes[j + 1].deep) return 8;
    if (old_shapes[i + 1].shallow == new_shapes[j + 1].shallow) return 3;
    return before_.block(old_roots[i + 1]).terminator == after_.block(new_roots[j + 1]).terminator ? 1 : 0;
  };
  std::vector<bool> old_paired(old_roots.size()), new_paired(new_roots.size());
  for (const auto& [i, j] : align(old_roots.size() - 1, new_roots.size() - 1, weight)) {
    old_paired[i + 1] = new_paired[j + 1] = true;
    step(old_roots[i + 1], new_roots[j + 1]);
    follow_queue();
  }
  for (std::size_t i = 1; i < old_roots.size(); ++i)
    if (!old_paired[i] && before_.is_live_root(old_roots[i])) matching_.before[old_roots[i]].dangerous = true;
  for (std::size_t j = 1; j < new_roots.size(); ++j)
    if (!new_paired[j] && after_.is_live_root(new_roots[j])) mark_dangerous(before_.entry(), new_roots[j]);
}

void Walk::follow_queue() {
  while (!queue_.empty()) {
    const Stop pair = queue_.front();
    queue_.pop_front();
    follow_edges(pair.old_block, pair.new_block);
  }
}

void Walk::follow_edges(Position old_block, Position new_block) {
  for (const Arc& arc : before_.arcs(old_block)) {
    if (const Arc* partner = after_.find_arc(new_block, arc))
      step(arc.target, partner->target);
    else
      missing_in_new(arc);
  }
  for (const Arc& arc : after_.arcs(new_block))
    if (!before_.find_arc(old_block, arc)) missing_in_old(old_block, arc);
  if (behind_mismatch_ || keeps_labels(before_, old_block, after_, new_block)) return;
  for (const Arc& arc : before_.arcs(old_block))  // another handler may catch now
    if (arc.kind == EdgeKind::Exception) matching_.before[arc.target].dangerous = true;
}

void Walk::step(Position old_block, Position new_block) {
  if (matching_.after[new_block].partner == old_block) return;
  if (matching_.both_free(old_block, new_block) &&
      locals_.match(before_.block(old_block), after_.block(new_block))) {
    matching_.pair_whole(old_block, new_block);
    matching_.after[new_block].resynced = behind_mismatch_;
    queue_.push_back({old_block, new_block});
    return;
  }
  matching_.stops.push_back({old_block, new_block});
  mark_dangerous(old_block, new_block);
}

void Walk::mark_dangerous(Position old_block, Position new_block) {
  if (behind_mismatch_) return;
  matching_.before[old_block].dangerous = true;
  matching_.after[new_block].dangerous = true;
}

void Walk::missing_in_new(const Arc& old_arc) {
  if (!behind_mismatch_) matching_.before[old_arc.target].dangerous = true;
}

void Walk::missing_in_old(Position old_block, const Arc& new_arc) {
  // A test that takes a new case label took the default before.
  const Position instead = default_target(before_, old_block, new_arc);
  mark_dangerous(instead == kNowhere ? old_block : instead, new_arc.target);
}

Position default_target(const FlowGraph& before, Position old_block, const Arc& new_arc) {
  if (new_arc.kind != EdgeKind::Case) return kNowhere;
  for (const Arc& arc : before.arcs(old_block))
    if (arc.kind == EdgeKind::Default) return arc.target;
  return kNowhere;
}

}  // namespace simrt::diff
