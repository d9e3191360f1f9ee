// Conflict edges: thread a at one site, later thread b at another, on one variable, one of them writing. What
// recognise.cc remembers of them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/execution.h"
#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {

/// Number of a step in its execution, from 1. 32 bits: what is known of variables is the larger part of the
/// memory that recognition walks through.
using StepTime = std::uint32_t;
inline constexpr StepTime kNever = std::numeric_limits<StepTime>::max();

enum class EdgeModes : std::uint8_t { WriteWrite, WriteRead, ReadWrite };
/// The modes of the edge that makes a two-variable pattern with this one.
constexpr EdgeModes opposite(EdgeModes modes) {
  return modes == EdgeModes::WriteWrite  ? EdgeModes::WriteWrite
         : modes == EdgeModes::WriteRead ? EdgeModes::ReadWrite
                                         : EdgeModes::WriteRead;
}

/// The earliest end of an edge, on any variable but one.
class EarliestEnd {
 public:
  void note(VariableNumber variable, StepTime end);
  StepTime other_than(VariableNumber variable) const;

 private:
  VariableNumber variable_ = 0;
  StepTime end_ = kNever, end_elsewhere_ = kNever;
};

/// The latest start of an edge that has ended, on any variable but one; 0 = there is none.
class LatestStart {
 public:
  void note(VariableNumber variable, StepTime start);
  StepTime other_than(VariableNumber variable) const;

 private:
  VariableNumber variable_ = 0, second_variable_ = 0;
  StepTime start_ = 0, second_start_ = 0;
};

/// The spans [first step of a, step of b] of an edge, newest last. From time to time those are dropped that
/// two newer ones of different variables contain, or one of the same variable, and the oldest beyond kMost.
class Spans {
 public:
  void note(VariableNumber variable, StepTime begin, StepTime end);
  /// Whether `time` lies strictly inside a span of another variable.
  bool contains(StepTime time, VariableNumber except) const;

 private:
  static constexpr std::size_t kMost = 64;
  struct Span {
    VariableNumber variable;
    StepTime begin, end;
  };
  void drop_contained();
  std::vector<Span> spans_;
};

using EdgeNumber = std::uint32_t;

/// Shapes of two opposite edges, as bits.
inline constexpr std::uint8_t kBehind = 1, kCrossing = 2, kInside = 4, kAllShapes = 7;

/// What edges between the same sites have in common, whichever threads they lie between: instances do not
/// name threads, so that what was found of one pair of threads is not looked for in others.
struct EdgeKind {
  std::vector<std::uint64_t> before;  ///< bit 2 * site + mode: triples found that begin there
  std::vector<std::uint8_t> found;    ///< shapes, by the opposite edge's kind
};

struct Edge {
  std::uint32_t first_site = 0, second_site = 0;  ///< interned
  EdgeModes modes = EdgeModes::WriteWrite;
  std::uint32_t kind = 0;
  std::uint32_t number_in_group = 0;
  std::uint32_t number_to = 0;  ///< among all edges to the same thread
  EarliestEnd earliest_end;
  LatestStart latest_start;
  Spans spans;
  std::vector<EdgeNumber> opposites;  ///< those for which a shape is still missing
  std::uint32_t opposites_seen = 0;   ///< how many edges of the opposite group were looked at
  std::uint32_t in_vain = 0;          ///< comparisons in a row that found nothing
};

/// All edges from thread a to thread b. What a walk over all of them asks first lies side by side.
struct EdgeGroup {
  ThreadIndex to = 0;
  StepTime last_end = 0;
  std::uint32_t in_vain = 0;
  std::vector<EdgeNumber> edges;
  std::vector<std::uint32_t> numbers_to;  ///< of `edges`: Edge::number_to
  std::vector<StepTime> ends;             ///< of `edges`: when each ended last
  std::unordered_map<std::uint64_t, EdgeNumber> by_sites;
};

class EdgeTable {
 public:
  EdgeGroup& group(ThreadIndex from, ThreadIndex to);
  /// Null when no edge leads from one to the other.
  EdgeGroup* find_group(ThreadIndex from, ThreadIndex to);
  Edge& operator[](EdgeNumber number) { return edges_[number]; }
  EdgeKind& kind(const Edge& edge) { return kinds_[edge.kind]; }
  /// The shapes found of an edge that ends and its opposite.
  std::uint8_t& found(const Edge& ending, const Edge& opposite);
  /// Second is true when the edge is new.
  std::pair<EdgeNumber, bool> edge(EdgeGroup& group, std::uint32_t first_site, std::uint32_t second_site,
                                   EdgeModes modes);
  /// Threads that have edges to `to`.
  const std::vector<ThreadIndex>& sources_of(ThreadIndex to);

 private:
  std::vector<Edge> edges_;
  std::vector<EdgeKind> kinds_;
  std::unordered_map<std::uint64_t, std::uint32_t> kind_by_sites_;
  std::vector<std::vector<std::unique_ptr<EdgeGroup>>> groups_;  ///< by target, then by source
  std::vector<std::vector<ThreadIndex>> sources_;
  std::vector<std::uint32_t> edges_to_;  ///< how many, by target
};

}  // namespace simrt::schedule
