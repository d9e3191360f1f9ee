#include "select/greedy.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace simrt::select {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The definition, word for word.
std::vector<GreedyPick> slow_greedy(const std::vector<GreedyTest>& tests,
                                    const std::vector<std::uint32_t>& weights) {
  std::vector<GreedyPick> picks;
  std::set<std::uint32_t> remaining, covered;
  for (std::uint32_t i = 0; i < tests.size(); ++i)
    if (!tests[i].goals.empty()) remaining.insert(i);
  while (!remaining.empty()) {
    const auto gain = [&](std::uint32_t test) {
      std::uint32_t sum = 0;
      for (std::uint32_t goal : tests[test].goals)
        if (!covered.contains(goal)) sum += weights[goal];
      return sum;
    };
    std::uint32_t best = UINT32_MAX;
    for (std::uint32_t test : remaining) {
      if (gain(test) == 0) continue;
      if (best == UINT32_MAX) {
        best = test;
        continue;
      }
      const double a = gain(test) / tests[test].cost, b = gain(best) / tests[best].cost;
      if (a > b || (a == b && tests[test].tie_break < tests[best].tie_break)) best = test;
    }
    if (best == UINT32_MAX) {
      covered.clear();
      continue;
    }
    picks.push_back({best, gain(best), {}});
    covered.insert(tests[best].goals.begin(), tests[best].goals.end());
    remaining.erase(best);
  }
  return picks;
}

TEST(Greedy, NothingToOrder) {
  EXPECT_THAT(greedy_order({}, {}), IsEmpty());
  EXPECT_THAT(greedy_order({{{}, 1, 1}}, {1}), IsEmpty());
}

TEST(Greedy, SaysWhatEachPickAdded) {
  const std::vector<std::uint32_t> first = {0, 1}, second = {1, 2};
  const auto picks = greedy_order({{first, 1, 1}, {second, 2, 1}}, {1, 5, 1});
  ASSERT_EQ(picks.size(), 2u);
  EXPECT_EQ(picks[0].test, 0u);
  EXPECT_EQ(picks[0].gain, 6u);
  EXPECT_EQ(picks[1].gain, 1u);
  EXPECT_THAT(picks[1].added, ElementsAre(2u));
}

TEST(Greedy, TellsVeryManyTestsApart) {
  // Each covers two goals of a ring: every second one is needed, and those are the first.
  constexpr std::uint32_t kTests = 70'000;
  const std::vector<std::uint32_t> weights(kTests, 1);
  std::vector<std::vector<std::uint32_t>> covered(kTests);
  std::vector<GreedyTest> tests;
  for (std::uint32_t i = 0; i < kTests; ++i) {
    covered[i] = {i, (i + 1) % kTests};
    tests.push_back({covered[i], i % 2 == 0 ? i : kTests + i, 1});
  }
  const auto picks = greedy_order(tests, weights);
  ASSERT_EQ(picks.size(), kTests);
  for (std::uint32_t i = 0; i < kTests; ++i) {
    ASSERT_EQ(picks[i].test, i < kTests / 2 ? 2 * i : 2 * (i - kTests / 2) + 1);
    ASSERT_EQ(picks[i].gain, 2U);
  }
}

TEST(Greedy, EqualsItsDefinition) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1500; ++round) {
    const std::size_t goals = 1 + random() % (round % 20 ? 30 : 500),
                      count = random() % (round % 20 == 7 ? 300 : 40);
    // Dense, sparse and nested suites take different paths, and so do goals of many tests and of few.
    const unsigned density = 1 + random() % 9;
    const std::uint32_t rare = round % 20 == 7 ? goals / 2 : 0;
    std::vector<std::uint32_t> weights;
    for (std::size_t i = 0; i < goals; ++i) weights.push_back(1 + random() % 3);
    std::vector<std::vector<std::uint32_t>> covered(count);
    std::vector<GreedyTest> tests;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint32_t goal = 0; goal < goals; ++goal)
        if (random() % (goal < rare ? 1000 : 10) < density && (round % 3 || goal < i))
          covered[i].push_back(goal);
      const double cost = round % 2 ? 1.0 : 0.25 * static_cast<double>(1 + random() % 8);
      tests.push_back({covered[i], random(), cost});
    }
    const auto fast = greedy_order(tests, weights), slow = slow_greedy(tests, weights);
    ASSERT_EQ(fast.size(), slow.size());
    for (std::size_t i = 0; i < fast.size(); ++i) {
      ASSERT_EQ(fast[i].test, slow[i].test) << "round " << round << " pick " << i;
      ASSERT_EQ(fast[i].gain, slow[i].gain);
    }
  }
}

}  // namespace
}  // namespace simrt::select
