// Accesses with a set of blocks in place of one (SharedAccess::sites): as if there were one access a block.
#include <gtest/gtest.h>

#include <random>

#include "select/select.h"

namespace simrt::select {
namespace {

constexpr FunctionId kFunction{7};
constexpr std::uint32_t kUnknownBlock = 5, kInitialiser = 6, kBlocks = 7;

BlockResolution resolve(BlockId block) {
  if (block.ordinal == kUnknownBlock) return BlockResolution::unknown();
  if (block.ordinal == kInitialiser) return BlockResolution::static_init();
  return BlockResolution::known(block.ordinal);
}

TestCoverage covering(
    std::initializer_list<std::pair<const char*, std::initializer_list<BlockNumber>>> threads,
    std::initializer_list<BlockNumber> several = {}) {
  TestCoverage coverage;
  for (const auto& [role, blocks] : threads) {
    coverage.single.push_back({role, {}});
    for (BlockNumber block : blocks) coverage.single.back().blocks.add(block);
  }
  for (BlockNumber block : several) coverage.several.add(block);
  return coverage;
}

Decision decide(const Impact& impact, const TestCoverage& coverage) {
  const std::vector<RecordedTest> tests = {{test_id("t"), "t", 1, Outcome::Passed, &coverage, {}}};
  const ProgramDiff diff;
  return select({impact, diff, tests, resolve, [](FunctionId) { return std::vector<BlockNumber>{}; }, {}})
      .decisions.front();
}

/// An impacted write in block 1, and one that stands for many in blocks 2 and 3.
Impact with_stand_in() {
  Impact impact;
  SharedAccess write, any;
  write.mode = any.mode = AccessMode::Write;
  write.impacted = true;
  write.block = {kFunction, 1};
  any.site_role = SiteRole::RunsFrom;
  any.stands_for = 1000;
  impact.site_sets = {{{kFunction, 2}, {kFunction, 3}}};
  impact.accesses = {write, any};
  impact.pairs = {{0, 1}};
  return impact;
}

TEST(SiteSets, AnyOfTheBlocksByAnotherThread) {
  const auto selected = [](const TestCoverage& coverage) { return decide(with_stand_in(), coverage).run; };
  EXPECT_TRUE(selected(covering({{"main", {2}}, {"worker", {1}}})));
  EXPECT_TRUE(selected(covering({{"main", {3}}, {"worker", {1}}})));
  EXPECT_TRUE(selected(covering({{"main", {1, 2}}, {"worker", {3}}})));
  EXPECT_TRUE(selected(covering({{"main", {3}}}, {1})));
  EXPECT_TRUE(selected(covering({{"main", {1}}}, {2})));
  EXPECT_FALSE(selected(covering({{"main", {1, 2, 3}}})));
  EXPECT_FALSE(selected(covering({{"main", {1}}, {"worker", {4}}}, {0})));
  EXPECT_FALSE(selected(covering({{"main", {2}}, {"worker", {3}}})));
}

TEST(SiteSets, TheReasonNamesTheThread) {
  const Decision decision = decide(with_stand_in(), covering({{"main", {3}}, {"worker", {1}}}));
  ASSERT_EQ(decision.reasons.size(), 1U);
  EXPECT_EQ(decision.reasons[0].first_thread, "worker");
  EXPECT_EQ(decision.reasons[0].second_thread, "main");
  EXPECT_EQ(decide(with_stand_in(), covering({{"main", {3}}, {"other", {2}}, {"worker", {1}}}))
                .reasons[0]
                .second_thread,
            "several");
}

/// The same with an access for each block.
Impact spread(const Impact& impact) {
  Impact result;
  std::vector<std::vector<std::uint32_t>> copies(impact.accesses.size());
  for (std::size_t i = 0; i < impact.accesses.size(); ++i) {
    SharedAccess access = impact.accesses[i];
    const SiteRole role = access.site_role;
    std::vector<BlockId> blocks{access.block};
    if (role != SiteRole::None) blocks = impact.site_sets[access.sites];
    for (const BlockId& block : blocks) {
      access.block = block;
      access.site_role = SiteRole::None;
      if (role == SiteRole::StartedBehind) {
        access.block = {};
        access.site_role = role;
        access.sites = static_cast<std::uint32_t>(result.site_sets.size());
        result.site_sets.push_back({block});
      }
      copies[i].push_back(static_cast<std::uint32_t>(result.accesses.size()));
      result.accesses.push_back(access);
    }
  }
  for (const AccessPair& pair : impact.pairs)
    for (std::uint32_t first : copies[pair.first])
      for (std::uint32_t second : copies[pair.second])
        result.pairs.push_back({std::min(first, second), std::max(first, second)});
  return result;
}

TEST(SiteSets, SelectAsOneAccessABlockWould) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  std::size_t selected = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    Impact impact;
    for (std::uint32_t i = 0; i < 3; ++i) {
      SharedAccess access;
      access.impacted = i == 0;
      access.block = {kFunction, below(kBlocks)};
      access.site_role = static_cast<SiteRole>(below(3));
      access.sites = i;
      std::vector<BlockId> sites;
      for (std::uint32_t block = 0; block < kBlocks; ++block)
        if (below(4) == 0 || sites.size() + block + 1 == kBlocks) sites.push_back({kFunction, block});
      if (sites.empty()) sites.push_back({kFunction, 0});
      impact.site_sets.push_back(std::move(sites));
      if (access.site_role != SiteRole::None) access.block = {};
      impact.accesses.push_back(access);
    }
    impact.pairs = {{0, 0}, {0, 1}, {0, 2}};
    impact.pairs.resize(1 + below(3));
    TestCoverage coverage = covering({{"main", {}}, {"worker", {}}});
    for (BlockNumber block = 0; block < kUnknownBlock; ++block) {
      const std::uint32_t by = below(6);
      if (by < 2) coverage.single[by].blocks.add(block);
      if (by == 2) coverage.several.add(block);
    }
    const bool run = decide(impact, coverage).run;
    EXPECT_EQ(run, decide(spread(impact), coverage).run) << round;
    selected += run;
  }
  EXPECT_GT(selected, kRounds / 10U);
  EXPECT_LT(selected, kRounds * 9U / 10U);
}

}  // namespace
}  // namespace simrt::select
