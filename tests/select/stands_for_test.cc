// An access that stands for many (SharedAccess::stands_for) is covered by any other thread of a test.
#include <gtest/gtest.h>

#include "select/select.h"

namespace simrt::select {
namespace {

constexpr FunctionId kFunction{7};

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

/// Whether a test with this coverage is selected for: an impacted write in block 1, with one that stands for
/// many.
bool selected(const TestCoverage& coverage) {
  Impact impact;
  SharedAccess write, any;
  write.mode = any.mode = AccessMode::Write;
  write.impacted = true;
  write.block = {kFunction, 1};
  any.block = {kFunction, 9};
  any.stands_for = 1000;
  impact.accesses = {write, any};
  impact.pairs = {{0, 1}};
  const std::vector<RecordedTest> tests = {{test_id("t"), "t", 1, Outcome::Passed, &coverage, {}}};
  const ProgramDiff diff;
  const Selection selection = select({impact,
                                      diff,
                                      tests,
                                      [](BlockId block) { return BlockResolution::known(block.ordinal); },
                                      [](FunctionId) { return std::vector<BlockNumber>{}; },
                                      {}});
  return selection.decisions.front().run;
}

TEST(StandsFor, TakesTheImpactedBlockAndAnotherThread) {
  EXPECT_TRUE(selected(covering({{"main", {2}}, {"worker", {1}}})));
  EXPECT_TRUE(selected(covering({{"main", {}}}, {1})));
  EXPECT_TRUE(selected(covering({{"main", {1}}}, {3})));
  EXPECT_TRUE(selected(covering({{"worker", {1}}})));  // main ran something, too
  EXPECT_FALSE(selected(covering({{"main", {1, 2, 9}}})));
  EXPECT_FALSE(selected(covering({{"main", {2}}, {"worker", {3}}}, {4})));
}

}  // namespace
}  // namespace simrt::select
