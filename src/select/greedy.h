// Greedy prioritisation: again and again the test that adds most; when none adds anything, start over with
// the remaining tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace simrt::select {

struct GreedyTest {
  std::span<const std::uint32_t> goals;  ///< unique; of the caller
  std::uint64_t tie_break = 0;           ///< among equals the smaller first
  double cost = 1;                       ///< > 0; gain is divided by it
};

struct GreedyPick {
  std::uint32_t test = 0;  ///< index
  std::uint32_t gain = 0;  ///< weight of the goals it added
  std::vector<std::uint32_t> added;
};

/// Orders the tests that have goals; the others do not appear. `weights` by goal, > 0.
///
/// Exact, but looks at few tests again for each pick: gains only shrink between two starts, so a heap with
/// outdated keys finds the best one (Minoux, 1978); it is filled anew, from the tests that still add
/// something, when too many keys are outdated.
std::vector<GreedyPick> greedy_order(const std::vector<GreedyTest>& tests,
                                     const std::vector<std::uint32_t>& weights);

}  // namespace simrt::select
