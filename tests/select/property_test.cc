// The selection against its definition, on random suites.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "suite.h"

namespace simrt::select {
namespace {

struct Site {
  BlockNumber block;
};

struct RandomSuite {
  Suite suite;
  std::vector<Site> sites;

  explicit RandomSuite(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const BlockNumber blocks = 2 + random() % 12;
    for (std::size_t i = 1 + random() % 8; i-- > 0;) {
      BlockNumber block = static_cast<BlockNumber>(random() % blocks);
      if (random() % 12 == 0) block = Suite::kNoBlock;
      if (random() % 12 == 0) block = Suite::kInitialiser;
      sites.push_back({block});
      suite.access(block, AccessMode::Write, random() % 2);
    }
    for (std::uint32_t a = 0; a < sites.size(); ++a)
      for (std::uint32_t b = a; b < sites.size(); ++b)
        if (random() % 3 == 0) suite.pair(a, b);
    const char* roles[] = {"main", "main/a#0", "main/a#1"};
    for (std::size_t t = random() % 10; t-- > 0;) {
      Threads threads;
      for (std::size_t r = 0; r < 1 + random() % 3; ++r)
        for (BlockNumber block = 0; block < blocks; ++block)
          if (random() % 3 == 0) threads[roles[r]].push_back(block);
      suite.test("t" + std::to_string(t), threads, static_cast<double>(random() % 4));
    }
  }

  /// The definition, by TestCoverage's own condition.
  bool covers(const TestCoverage& coverage, const AccessPair& pair, bool two_threads) const {
    BlockNumber a = sites[pair.first].block, b = sites[pair.second].block;
    if (b == Suite::kNoBlock || (b == Suite::kInitialiser && a != Suite::kNoBlock)) std::swap(a, b);
    if (a == Suite::kNoBlock) return b == Suite::kNoBlock || b == Suite::kInitialiser || coverage.covers(b);
    if (a == Suite::kInitialiser) {
      if (b == Suite::kInitialiser) return !two_threads;
      if (!two_threads) return coverage.covers(b);
      return coverage.covers(b) && coverage.witness(b, b).first != "main";
    }
    return two_threads ? coverage.covers_with_two_threads(a, b) : coverage.covers(a) && coverage.covers(b);
  }
};

TEST(SelectProperty, EqualsTheDefinition) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomSuite random(seed);
    for (bool two_threads : {true, false}) {
      const Selection selection =
          random.suite.select(with(two_threads ? Technique::SimRT : Technique::SimRTN));
      std::set<std::uint32_t> uncovered;
      for (std::uint32_t i = 0; i < random.suite.impact.pairs.size(); ++i) uncovered.insert(i);
      std::map<TestId, std::uint32_t> expected;
      for (const RecordedTest& test : random.suite.tests) {
        for (std::uint32_t i = 0; i < random.suite.impact.pairs.size(); ++i) {
          expected[test.test] += random.covers(*test.coverage, random.suite.impact.pairs[i], two_threads);
          if (random.covers(*test.coverage, random.suite.impact.pairs[i], true)) uncovered.erase(i);
        }
      }
      ASSERT_EQ(selection.decisions.size(), random.suite.tests.size());
      for (const Decision& decision : selection.decisions) {
        ASSERT_EQ(decision.pairs, expected[decision.test]) << "seed " << seed;
        ASSERT_EQ(decision.run, decision.pairs != 0) << "seed " << seed;
        ASSERT_FALSE(decision.reasons.empty());
      }
      ASSERT_EQ(std::set<std::uint32_t>(selection.uncovered.begin(), selection.uncovered.end()), uncovered)
          << "seed " << seed;
    }
  }
}

TEST(SelectProperty, WhatIsExplainedAgreesWithWhatIsDecided) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomSuite random(seed);
    const SelectOptions options = with(Technique::SimRT, Ranking::Pairs, true, seed);
    for (const Decision& decision : random.suite.select(options).decisions) {
      const auto reasons = explain_run(random.suite.input(options), decision.test);
      ASSERT_EQ(reasons.size(), decision.pairs) << "seed " << seed;
      const auto misses = explain_skip(random.suite.input(options), decision.test, SIZE_MAX);
      if (!random.suite.impact.pairs.empty()) {
        ASSERT_EQ(misses.size(), random.suite.impact.pairs.size() - decision.pairs);
      }
    }
  }
}

TEST(SelectProperty, TestsWithoutCoverageAreSelectedBehindAllOthers) {
  int both = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomSuite random(seed);
    std::mt19937_64 more(~seed);
    for (int i = 0; i < 3; ++i)
      random.suite.test_without_coverage("blind" + std::to_string(i), static_cast<double>(more() % 4));
    std::shuffle(random.suite.tests.begin(), random.suite.tests.end(), more);
    std::set<TestId> blind;
    for (const RecordedTest& test : random.suite.tests)
      if (!test.coverage) blind.insert(test.test);
    for (Ranking ranking : {Ranking::Pairs, Ranking::Cost}) {
      std::vector<bool> selected;  // by place: without coverage
      for (const Decision& decision :
           random.suite.select(with(Technique::SimRT, ranking, false, seed)).decisions)
        if (decision.run) selected.push_back(blind.contains(decision.test));
      ASSERT_TRUE(std::is_sorted(selected.begin(), selected.end())) << "seed " << seed;
      ASSERT_EQ(std::count(selected.begin(), selected.end(), true),
                random.suite.impact.pairs.empty() ? 0 : 3);
      both += selected.size() > 3;
    }
  }
  EXPECT_GT(both, 100);
}

TEST(SelectProperty, RanksAreAPermutationAndSelectedComeFirst) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomSuite random(seed);
    for (Ranking ranking : {Ranking::Pairs, Ranking::Cost, Ranking::Abc, Ranking::Random}) {
      const Selection selection = random.suite.select(with(Technique::SimRT, ranking, true, seed));
      for (std::size_t i = 0; i < selection.decisions.size(); ++i) {
        ASSERT_EQ(selection.decisions[i].rank, i + 1);
        if (i > 0) {
          ASSERT_LE(selection.decisions[i - 1].tier, selection.decisions[i].tier);
        }
      }
    }
  }
}

}  // namespace
}  // namespace simrt::select
