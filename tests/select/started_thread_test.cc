// Accesses on a thread that only the changed version starts (SiteRole::StartedBehind).
#include <gtest/gtest.h>

#include "select/select.h"

namespace simrt::select {
namespace {

constexpr FunctionId kFunction{7};

/// One pair: a write on a thread started behind block 0, and a read in block 1.
Impact impact_of_new_thread() {
  Impact impact;
  SharedAccess write, read;
  write.mode = AccessMode::Write;
  write.impacted = true;
  write.site_role = SiteRole::StartedBehind;
  impact.site_sets = {{{kFunction, 0}}};
  read.block = {kFunction, 1};
  impact.accesses = {write, read};
  impact.pairs = {{0, 1}};
  return impact;
}

TestCoverage covering(std::initializer_list<BlockNumber> blocks) {
  TestCoverage coverage;
  coverage.single.push_back({"main", {}});
  for (BlockNumber block : blocks) coverage.single[0].blocks.add(block);
  return coverage;
}

TEST(StartedThread, OneRecordedThreadIsEnoughWhenTheChangeStartsAnother) {
  const TestCoverage both = covering({0, 1}), starts = covering({0}), reads = covering({1});
  const std::vector<RecordedTest> tests = {{test_id("both"), "both", 1, Outcome::Passed, &both, {}},
                                           {test_id("starts"), "starts", 1, Outcome::Passed, &starts, {}},
                                           {test_id("reads"), "reads", 1, Outcome::Passed, &reads, {}}};
  const Impact impact = impact_of_new_thread();
  const ProgramDiff diff;
  const Selection selection = select({impact,
                                      diff,
                                      tests,
                                      [](BlockId block) { return BlockResolution::known(block.ordinal); },
                                      [](FunctionId) { return std::vector<BlockNumber>{}; },
                                      {}});
  for (const Decision& decision : selection.decisions)
    EXPECT_EQ(decision.run, decision.test == test_id("both"));
  EXPECT_TRUE(selection.uncovered.empty());
}

}  // namespace
}  // namespace simrt::select
