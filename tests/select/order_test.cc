// Rankings, ties, the front and back groups, the rest, and the budget.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "suite.h"

namespace simrt::select {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// `count` writes, each in a block of its own (1, 2, ...) and each paired with itself.
Suite self_pairs(BlockNumber count) {
  Suite suite;
  for (BlockNumber block = 1; block <= count; ++block) {
    const auto write = suite.access(block, AccessMode::Write, true);
    suite.pair(write, write);
  }
  return suite;
}

void covering(Suite& suite, const std::string& name, const std::vector<BlockNumber>& blocks,
              double seconds = 1) {
  suite.test(name, {{"main", blocks}, {"w", blocks}}, seconds);
}

TEST(Order, MostNewPairsFirstThenStartOver) {
  Suite suite = self_pairs(6);
  covering(suite, "three", {1, 2, 3});
  covering(suite, "two of them", {1, 2});
  covering(suite, "two others", {4, 5});
  covering(suite, "one more", {3, 6});
  const Selection selection = suite.select(with(Technique::SimRT));
  std::vector<std::string> order;
  std::vector<std::uint32_t> gains;
  for (const Decision& decision : selection.decisions)
    order.push_back(suite.name(decision.test)), gains.push_back(decision.new_pairs);
  EXPECT_THAT(order, ElementsAre("three", "two others", "one more", "two of them"));
  EXPECT_THAT(gains, ElementsAre(3u, 2u, 1u, 2u));
}

TEST(Order, CostCountsNewPairsPerSecond) {
  Suite suite = self_pairs(4);
  covering(suite, "all, slow", {1, 2, 3, 4}, 10);
  covering(suite, "one, fast", {1}, 0.1);
  covering(suite, "two, medium", {2, 3}, 1);
  EXPECT_THAT(suite.listed(with(Technique::SimRT, Ranking::Cost)),
              ElementsAre("one, fast", "two, medium", "all, slow"));
  EXPECT_EQ(suite.listed(with(Technique::SimRT, Ranking::Pairs)).front(), "all, slow");
}

TEST(Order, MissingDurationCountsAsTheMedian) {
  Suite suite = self_pairs(5);
  covering(suite, "fast", {1}, 0.5);
  covering(suite, "unknown", {2, 3}, 0);  // 2 / 1 = 2 per second
  covering(suite, "medium", {4}, 1);
  covering(suite, "slow", {5}, 9);
  const auto order = suite.listed(with(Technique::SimRT, Ranking::Cost));
  EXPECT_THAT((std::vector<std::string>(order.begin(), order.begin() + 2)),
              UnorderedElementsAre("fast", "unknown"));
  EXPECT_EQ(order.back(), "slow");
}

TEST(Order, TiesDependOnTheSeedAndNotOnTheInputOrder) {
  std::set<std::vector<std::string>> orders;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Suite suite = self_pairs(1), reversed = self_pairs(1);
    for (const char* name : {"a", "b", "c", "d"}) covering(suite, name, {1});
    for (const char* name : {"d", "c", "b", "a"}) covering(reversed, name, {1});
    for (Ranking ranking : {Ranking::Pairs, Ranking::Cost, Ranking::Abc, Ranking::Random}) {
      const auto order = suite.listed(with(Technique::SimRT, ranking, false, seed));
      EXPECT_EQ(order, reversed.listed(with(Technique::SimRT, ranking, false, seed)));
      orders.insert(order);
    }
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST(Order, AdditionalBlockCoverage) {
  Suite suite = self_pairs(1);
  suite.test("wide", {{"main", {1, 10, 11, 12, 13}}, {"w", {1}}});
  suite.test("within wide", {{"main", {1, 10, 11, 12}}, {"w", {1}}});
  suite.test("something new", {{"main", {1, 20}}, {"w", {1}}});
  EXPECT_THAT(suite.listed(with(Technique::SimRT, Ranking::Abc)),
              ElementsAre("wide", "something new", "within wide"));
}

TEST(Order, RandomIsAPermutation) {
  Suite suite = self_pairs(3);
  covering(suite, "a", {1});
  covering(suite, "b", {2});
  covering(suite, "c", {3});
  std::set<std::vector<std::string>> orders;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto order = suite.listed(with(Technique::SimRT, Ranking::Random, false, seed));
    EXPECT_THAT(order, UnorderedElementsAre("a", "b", "c"));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Order, TestsDueForTheirOwnSakeStandInFrontAndMereSuspicionBehind) {
  Suite suite = self_pairs(1);
  covering(suite, "pair", {1});
  suite.test("suspected", {{"main", {9}}}, 1);
  suite.test("new, slow", {{"main", {9}}}, 5);
  suite.test("new, fast", {{"main", {9}}}, 1);
  suite.test("failed", {{"main", {9}}}, 9);
  suite.test("changed", {{"main", {9}}}, 1);
  suite.force("suspected", ReasonKind::UnknownChange);
  suite.force("new, slow", ReasonKind::NewTest);
  suite.force("new, fast", ReasonKind::NewTest);
  suite.force("failed", ReasonKind::LastRunFailed);
  suite.force("changed", ReasonKind::ChangedTest);
  for (Ranking ranking : {Ranking::Pairs, Ranking::Cost})
    EXPECT_THAT(suite.listed(with(Technique::SimRT, ranking)),
                ElementsAre("failed", "new, fast", "new, slow", "changed", "pair", "suspected"));
}

TEST(Order, WhatIsKnownComesBeforeTestsWithoutCoverage) {
  Suite suite = self_pairs(1);
  suite.test_without_coverage("blind, slow", 5);
  suite.test_without_coverage("blind, fast", 0.1);
  suite.test_without_coverage("blind, failed", 9);
  suite.test_without_coverage("blind, by rule", 2);
  covering(suite, "pair", {1}, 7);
  suite.test("suspected", {{"main", {9}}}, 8);
  suite.force("suspected", ReasonKind::UnknownChange);
  suite.force("blind, failed", ReasonKind::LastRunFailed);
  suite.force("blind, by rule", ReasonKind::ConfigRule);
  for (Ranking ranking : {Ranking::Pairs, Ranking::Cost})
    EXPECT_THAT(
        suite.listed(with(Technique::SimRT, ranking)),
        ElementsAre("blind, failed", "pair", "suspected", "blind, fast", "blind, by rule", "blind, slow"));
  const auto by_blocks = suite.listed(with(Technique::SimRT, Ranking::Abc));
  ASSERT_EQ(by_blocks.size(), 6u);
  EXPECT_THAT(std::vector(by_blocks.begin(), by_blocks.begin() + 2),
              UnorderedElementsAre("pair", "suspected"));

  SelectOptions options = with(Technique::SimRT, Ranking::Cost);
  options.budget_seconds = 16;  // a budget goes to what is known
  EXPECT_THAT(suite.run(options), ElementsAre("blind, failed", "pair"));
}

TEST(Order, RestFollowsByTierAndCount) {
  Suite suite;
  suite.pair(suite.access(1, AccessMode::Write, true), suite.access(2, AccessMode::Write, true));
  suite.access(3, AccessMode::Read, false);
  suite.access(4, AccessMode::Read, false);
  suite.test("other", {{"main", {9}}});
  suite.test("one plain", {{"main", {3}}});
  suite.test("two plain", {{"main", {3, 4}}});
  suite.test("one impacted", {{"main", {1, 3, 4}}});
  suite.test("both impacted", {{"main", {1, 2}}});
  suite.test("selected", {{"main", {1}}, {"w", {2}}});
  EXPECT_THAT(suite.listed(with(Technique::SimRT, Ranking::Pairs, true)),
              ElementsAre("selected", "both impacted", "one impacted", "two plain", "one plain", "other"));
  EXPECT_THAT(suite.run(with(Technique::SimRT, Ranking::Pairs, true)), ElementsAre("selected"));
  EXPECT_THAT(suite.listed(with(Technique::SimRT)), ElementsAre("selected"));
}

TEST(Budget, TheListEndsBeforeTheFirstTestThatDoesNotFit) {
  Suite suite = self_pairs(6);
  covering(suite, "three", {1, 2, 3}, 2);
  covering(suite, "two", {4, 5}, 3);
  covering(suite, "one", {6}, 0.5);
  SelectOptions options = with(Technique::SimRT);
  options.budget_seconds = 4;
  EXPECT_THAT(suite.run(options), ElementsAre("three"))
      << "a prefix: what fits later does not jump the queue";
  const Selection selection = suite.select(options);
  ASSERT_EQ(selection.decisions.size(), 3u);
  const Decision& cut = selection.decisions[1];
  EXPECT_FALSE(cut.run);
  EXPECT_EQ(cut.rank, 0u);
  EXPECT_EQ(cut.tier, Tier::Selected);
  EXPECT_EQ(cut.reasons.at(0).kind, ReasonKind::OverBudget);
  EXPECT_EQ(cut.reasons.at(1).kind, ReasonKind::Pair);
  options.budget_seconds = 5.5;
  EXPECT_THAT(suite.run(options), ElementsAre("three", "two", "one"));
  options.budget_seconds = 0;
  EXPECT_TRUE(suite.run(options).empty());
}

}  // namespace
}  // namespace simrt::select
