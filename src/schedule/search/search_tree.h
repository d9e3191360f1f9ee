// What a stateless search has explored and has yet to explore: a tree of scheduling points, of which only
// those are kept that lead to something left to try.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

/// A thread that need not go on: what it would do is explored elsewhere, and nothing since depends on it.
struct Asleep {
  ThreadIndex thread = kNoThread;
  std::shared_ptr<const std::vector<ExecutionEvent>> steps;  ///< shared by the points where it sleeps
};

/// A scheduling point.
struct SearchPoint {
  ThreadSet enabled;
  ThreadSet backtrack;              ///< to be tried
  ThreadSet done;                   ///< tried
  ThreadIndex running = kNoThread;  ///< who made the step before; kNoThread when it gave way by itself
  unsigned preemptions = 0;         ///< made before this point
  std::vector<Asleep> asleep;       ///< from its beginning
  std::vector<Asleep> tried;        ///< what those tried did, in their order

  ThreadSet open() const;
};

/// In which order open points come. Both are right for partial order reduction with sleep sets: who sleeps is
/// decided by the order of a point's branches alone, and sets of threads to try only grow, so that in the end
/// every point has the branches that a search in depth would give it (compare the distributed search of Yang,
/// Chen, Gopalakrishnan, Kirby, SPIN 2007).
enum class SearchOrder : std::uint8_t {
  Newest,      ///< depth first: the deepest point of the latest execution
  Alternating  ///< by turns that, and the point with the fewest reversals on the way to it
};

/// Not thread-safe.
class SearchTree {
 public:
  explicit SearchTree(SearchOrder order) : order_(order) {}

  /// Goes to an open point and on with one of its threads: the choices that lead there. Nothing when no point
  /// is open.
  std::optional<Choices> next();

  /// The points on the way of the latest execution, from the first one.
  std::size_t depth() const { return path_.size(); }
  SearchPoint& at(std::size_t depth) { return nodes_[path_[depth]].point; }
  const SearchPoint& at(std::size_t depth) const { return nodes_[path_[depth]].point; }
  /// Who went on there.
  ThreadIndex choice(std::size_t depth) const { return choices_[depth]; }
  /// One point further on the way.
  void push(SearchPoint point, ThreadIndex choice);

 private:
  using Index = std::uint32_t;
  struct Node {
    SearchPoint point;
    Index parent = 0;
    ThreadIndex via = kNoThread;  // how the parent came here
    std::uint32_t depth = 0;
    std::uint32_t reversals = 0;
    std::uint32_t children = 0;  // that are kept
    std::uint64_t number = 0;    // ascending
    bool open = false;           // and listed as such
  };
  void list(Index index);
  void unlist(Index index);
  void drop_finished();
  Index pick();

  SearchOrder order_;
  std::deque<Node> nodes_;
  std::vector<Index> free_;
  std::vector<Index> path_;
  std::vector<ThreadIndex> choices_;
  std::set<std::pair<std::uint64_t, Index>> by_number_;  // of the open points
  std::set<std::pair<std::pair<std::uint32_t, std::uint64_t>, Index>> by_reversals_;
  std::uint64_t pushed_ = 0;
  bool spread_ = false;  // the next pick goes by reversals
  bool reversed_ = false;
};

}  // namespace simrt::schedule
