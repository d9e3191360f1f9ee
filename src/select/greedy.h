// Greedy prioritisation: again and again the test that adds most; when none adds anything, start over with
// the remaining tests.
#pragma once

#include <cstdint>
#include <vector>

namespace simrt::select {

struct GreedyTest {
  std::vector<std::uint32_t> goals;  ///< unique
  std::uint64_t tie_break = 0;       ///< among equals the smaller first
  double cost = 1;                   ///< > 0; gain is divided by it
};

struct GreedyPick {
  std::uint32_t test = 0;  ///< index
  std::uint32_t gain = 0;  ///< weight of the goals it added
  std::vector<std::uint32_t> added;
};

/// Orders the tests that have goals; the others do not appear. `weights` by goal, > 0.
///
/// Exact, but looks at few tests again for each pick: gains only shrink between two starts, so a heap with
/// outdated keys finds the best one (Minoux, 1978), and when little is left to cover, the tests that cover it
/// are found through their goals.
std::vector<GreedyPick> greedy_order(const std::vector<GreedyTest>& tests,
                                     const std::vector<std::uint32_t>& weights);

}  // namespace simrt::select
