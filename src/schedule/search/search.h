// Stateless systematic search over re-executions (HaPSet paper, sections 4 and 5): a tree of scheduling
// points, each with the threads that could go on, those already tried and those still to be tried.
//
//   while (auto prefix = search.next_prefix()) search.learn(run(*prefix));
//
// Which threads are to be tried at a point ("reduction"):
//
//   None: all that can go on, i.e. depth-first search; with a bound, preemptive context bounding (PCB).
//
//   Conflicts: all that can go on, but only where a later step raced with the one made (the paper's
//   baseline).
//
//   Source: dynamic partial order reduction with source sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014)
//   in place of the paper's persistent sets (Flanagan, Godefroid, POPL 2005), with sleep sets (Godefroid
//   1996).
//
// Guided by HaPSets, two steps are reversed only if the reversed order was not seen yet: this may miss bugs,
// plain DPOR does not, given that it ends. There, all pairs of steps count, not only those that no third step
// lies between, and nobody sleeps: both rely on what the search would come to later, and guidance leaves that
// out. So the thread that is to come first is tried at once, as in the paper's algorithms 3 and 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/execution.h"
#include "schedule/hapset/hapset.h"
#include "schedule/search/races.h"
#include "schedule/search/search_tree.h"
#include "schedule/search/untested_orders.h"
#include "support/result.h"

namespace simrt::schedule {

enum class Reduction : std::uint8_t { None, Conflicts, Source };

struct SearchOptions {
  Reduction reduction = Reduction::Source;
  std::optional<unsigned> preemptions = std::nullopt;  ///< most preemptions of one interleaving (0 to 4)
  bool guided = false;                                 ///< by HaPSets, which are learned from the good runs
  Novelty novelty = Novelty::Reversed;                 ///< guided: which reversals are tried
  SearchOrder order = SearchOrder::Newest;
};

struct SearchReport {
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;  ///< of them: met a sleeping thread, so another run stands for it
  std::uint64_t failed = 0;
  std::uint64_t diverged =
      0;                     ///< did not follow their prefix: nondeterminism that the engine does not control
  std::uint64_t pruned = 0;  ///< races not reversed because the HaPSets knew the reversed order
  std::uint64_t cut = 0;     ///< runs that ended at a limit: what lay behind it was not searched
  bool finished = false;     ///< nothing is left to try
  /// Everything reachable within the bound was covered: finished, not guided, nothing diverged or was cut.
  bool complete = false;
};

class SystematicSearch {
 public:
  /// `learned` also decides how deep contexts are. Refuses partial order reduction with a preemption bound:
  /// the one run that stands for an equivalence class may be over the bound while another run of the class is
  /// not, so that the class would be missed.
  static Result<SystematicSearch> create(SearchOptions options, HapSets learned = HapSets());

  /// Who goes on at the first decisions of the next execution; behind them the runtime's default. Empty
  /// optional when there is nothing left. Asked again before learn(): the same prefix.
  std::optional<Choices> next_prefix();
  /// What really happened under that prefix.
  void learn(const Execution& execution);

  /// Orders that good executions have shown elsewhere.
  void know(const HapSets& orders) { hapsets_.merge(orders); }
  /// Orders with these sites are to be tried although they were learned.
  void forget(const std::unordered_set<SiteId>& sites) { hapsets_.forget(sites); }

  const SearchReport& report() const { return report_; }
  const HapSets& hapsets() const { return hapsets_; }

 private:
  SystematicSearch(SearchOptions options, HapSets learned)
      : options_(options), hapsets_(std::move(learned)), tree_(options.order) {}
  bool reduces() const { return options_.reduction != Reduction::None; }
  bool sleeps() const { return reduces() && !options_.preemptions && !options_.guided; }
  bool follows(const Execution& execution) const;
  /// Adds the points behind the prefix; how many decisions of the execution are in the tree afterwards.
  std::size_t extend(const Execution& execution);
  SearchPoint make_point(const Execution& execution, std::size_t depth) const;
  void reverse_races(const Execution& execution, std::size_t from, std::size_t until);
  void try_untested(const Execution& execution, std::size_t from);
  void add_backtrack(SearchPoint& point, const RaceAnalysis& analysis, const ReversibleRace& race);
  unsigned preemptions_with(const SearchPoint& point, ThreadIndex thread) const;
  ThreadSet within_bound(const SearchPoint& point) const;

  SearchOptions options_;
  HapSets hapsets_;
  SearchReport report_;
  SearchTree tree_;
  std::optional<Choices> asked_;
  bool started_ = false;
};

}  // namespace simrt::schedule
