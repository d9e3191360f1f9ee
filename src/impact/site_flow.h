// Which of a set of blocks of p lead to each function: call sites carried along the call graph, all at once
// as bits. Knows nothing of why the sites matter.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "impact/call_graph.h"
#include "model/ids.h"

namespace simrt::impact {

/// Where code of p' runs, in terms of p.
struct Places {
  std::vector<BlockId> here;     ///< run by the threads that cover one of these; ascending
  std::vector<BlockId> started;  ///< run by threads that only p' starts, behind one of these; ascending
  bool unknown = false;          ///< nobody of p leads there
  bool empty() const { return here.empty() && started.empty() && !unknown; }
};

class SiteFlow {
 public:
  /// Goes on from a node where `pass` holds. `sites` in any order, duplicates allowed; BlockId{} among them
  /// is a site that p does not know.
  SiteFlow(const CallGraph& calls, std::vector<BlockId> sites, std::function<bool(std::uint32_t)> pass);

  /// The edges are taken from all of `from`.
  void start(std::span<const CallEdge> edges, const Places& from);
  /// To be called once, behind all start().
  void run();
  /// What leads to the node.
  Places places(std::uint32_t node) const;

 private:
  using State = std::uint32_t;  ///< twice the node, plus one behind the start of a thread
  using Word = std::uint64_t;

  std::uint32_t row(State state);
  std::vector<Word> bits_of(std::span<const BlockId> sites) const;
  void set(const std::vector<Word>& bits, State state);
  std::vector<State> reverse_postorder();
  template <class Visit>
  void for_each_next(State state, Visit visit) const;
  bool merge(State from, State into);
  void collect(State state, std::vector<BlockId>& blocks, bool& unknown) const;

  const CallGraph& calls_;
  std::vector<BlockId> sites_;  ///< ascending; a site's position is its bit
  std::function<bool(std::uint32_t)> pass_;
  std::size_t words_ = 0;              ///< of a row
  std::vector<std::uint32_t> row_of_;  ///< by state; kNone: not reached
  std::vector<State> starts_;
  std::vector<Word> bits_;  ///< rows of the states that are reached
};

}  // namespace simrt::impact
