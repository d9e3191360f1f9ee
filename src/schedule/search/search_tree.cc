#include "schedule/search/search_tree.h"

#include <limits>

namespace simrt::schedule {
namespace {

constexpr std::uint32_t kNoParent = std::numeric_limits<std::uint32_t>::max();
/// More points than this are not kept for the sake of the order: about 300 MB.
constexpr std::size_t kMostPoints = 1'000'000;

}  // namespace

ThreadSet SearchPoint::open() const {
  ThreadSet open = backtrack.minus(done);
  for (const Asleep& each : asleep) open.erase(each.thread);
  return open;
}

void SearchTree::push(SearchPoint point, ThreadIndex choice) {
  Index index = static_cast<Index>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Node& node = nodes_[index];
  node = Node();
  node.point = std::move(point);
  node.parent = path_.empty() ? kNoParent : path_.back();
  node.via = path_.empty() ? kNoThread : choices_.back();
  node.depth = static_cast<std::uint32_t>(path_.size());
  node.number = ++pushed_;
  if (node.parent != kNoParent) {
    ++nodes_[node.parent].children;
    node.reversals = nodes_[node.parent].reversals + (reversed_ ? 1 : 0);
  }
  reversed_ = false;
  path_.push_back(index);
  choices_.push_back(choice);
}

void SearchTree::list(Index index) {
  Node& node = nodes_[index];
  if (node.open) return;
  node.open = true;
  by_number_.insert({node.number, index});
  // Of those with equally many reversals the newest first: the smallest complement.
  by_reversals_.insert({{node.reversals, ~node.number}, index});
}

void SearchTree::unlist(Index index) {
  Node& node = nodes_[index];
  if (!node.open) return;
  node.open = false;
  by_number_.erase({node.number, index});
  by_reversals_.erase({{node.reversals, ~node.number}, index});
}

/// Points that nothing is left to try at, or behind, from the end of the way on.
void SearchTree::drop_finished() {
  while (!path_.empty()) {
    const Index index = path_.back();
    Node& node = nodes_[index];
    if (node.open || node.children > 0) return;
    if (node.parent != kNoParent) --nodes_[node.parent].children;
    node = Node();
    free_.push_back(index);
    path_.pop_back();
    choices_.pop_back();
  }
}

SearchTree::Index SearchTree::pick() {
  const bool kept = nodes_.size() - free_.size() < kMostPoints;
  const bool spread = spread_ && kept;
  spread_ = order_ == SearchOrder::Alternating && !spread_;
  return spread ? by_reversals_.begin()->second : by_number_.rbegin()->second;
}

std::optional<Choices> SearchTree::next() {
  for (const Index index : path_)
    if (!nodes_[index].point.open().empty()) list(index);
  drop_finished();
  if (by_number_.empty()) return std::nullopt;
  const Index picked = pick();
  path_.resize(nodes_[picked].depth + 1);
  choices_.resize(path_.size());
  Index at = picked;
  for (std::size_t depth = path_.size(); depth-- > 0; at = nodes_[at].parent) {
    path_[depth] = at;
    if (depth > 0) choices_[depth - 1] = nodes_[at].via;
  }
  SearchPoint& point = nodes_[picked].point;
  choices_.back() = point.open().first();
  point.done.insert(choices_.back());
  if (point.open().empty()) unlist(picked);
  reversed_ = true;
  return choices_;
}

}  // namespace simrt::schedule
