// Impacted pairs and recorded coverage -> which tests run, in which order, and why. Pure: knows nothing of
// the history, of git or of how tests are run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/coverage.h"
#include "model/impact.h"
#include "model/selection.h"

namespace simrt::select {

/// What the history knows of a block of p.
struct BlockResolution {
  enum class Kind : std::uint8_t {
    Known,       ///< coverage tells who entered block `number`
    StaticInit,  ///< in the initialiser of a global: the main thread of every test enters it
    Unknown      ///< counts as entered by any thread of every test
  };
  Kind kind = Kind::Unknown;
  BlockNumber number = 0;

  static BlockResolution known(BlockNumber number) { return {Kind::Known, number}; }
  static BlockResolution static_init() { return {Kind::StaticInit, 0}; }
  static BlockResolution unknown() { return {}; }
};

struct SelectOptions {
  Technique technique = Technique::SimRT;
  Ranking ranking = Ranking::Cost;
  bool rest = false;  ///< list the tests that were not selected as well, behind the selected
  std::optional<double> budget_seconds;  ///< the list ends before the first test that no longer fits
  std::uint64_t seed = 0;                ///< breaks ties; equal seeds give equal lists
  std::size_t pair_reasons =
      8;  ///< pair reasons a test gets (explain_run gives all); Decision::pairs counts all
};

/// All references must outlive the call. The callbacks are called from the calling thread only.
struct SelectInput {
  const Impact& impact;
  const ProgramDiff& diff;
  const std::vector<RecordedTest>& tests;  ///< unique TestIds
  /// For blocks of p; {0, 0} is never passed (it is unknown).
  std::function<BlockResolution(BlockId)> block;
  /// All numbers of a function's blocks in p, entered or not; empty when the history does not know the
  /// function.
  std::function<std::vector<BlockNumber>(FunctionId)> function_blocks;
  SelectOptions options;
};

/// Selects and orders (SimRT, sections 3.3 and 3.4).
///
/// Selected is a test
/// - with a forced reason;
/// - SimRT: that entered one of Impact::origins and covered both accesses of an impacted pair with two
///   different threads (two threads on one block, for a pair within it); SimRT-N: with any threads; RTSC:
///   that entered a block behind a dangerous edge; RTA: any;
/// - that covered one access of a pair, by whatever thread, when the other one's block is unknown;
/// - that covered any block of a function about which Impact::unknowns says something (any test, when it is a
/// whole
///   file or when the history does not know the function's blocks).
/// A test without coverage and without forced reason is selected as soon as there is any impacted pair (RTSC:
/// or dangerous block).
///
/// Order, by ranking: Pairs is the paper's greedy (most pairs not yet covered; when none adds one, start over
/// with the remaining tests). Cost is the same by new pairs per recorded second (a missing duration counts as
/// the median). Abc takes the most blocks not yet covered (tests without any last), Random shuffles. Ties are
/// broken by the seed and the test's id, so that the order of the input does not matter. For Pairs and Cost,
/// selected tests that cover no pair stand in front when they failed last time, are new, or changed (in this
/// order, shortest first), and otherwise behind, in the order of the rest; last those without coverage,
/// shortest first, for what is known to be about the change comes before what may be. The rest: tests that
/// entered most impacted accesses, then those that entered only accesses that are not impacted (most first),
/// then the others.
///
/// Selection::uncovered lists the pairs that no test covers with two threads, whatever the technique.
/// Deterministic; thread-safe as far as the callbacks are. 10,000 tests x 5,000 pairs take well under a
/// second.
Selection select(const SelectInput& input);

/// Every reason of a test that is selected, all pairs included; empty for one that is not.
std::vector<Reason> explain_run(const SelectInput& input, TestId test);

/// Why a test is not selected: for each pair it came close to, which access it misses or which single thread
/// covered both; nearest misses first, at most `lines` of them, then how many more there are. For RTSC the
/// blocks it would have had to enter. One line each.
std::vector<std::string> explain_skip(const SelectInput& input, TestId test, std::size_t lines = 20);

}  // namespace simrt::select
