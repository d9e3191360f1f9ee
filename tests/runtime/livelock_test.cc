// What is called a livelock: threads that only look at memory that nobody changes, and go on looking.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controlled_run.h"
#include "pipeline/execution/test_program.h"

namespace simrt::pipeline {
namespace {

TestProgram program(const std::string& name) {
  TestCase test;
  test.name = name;
  test.command = {SIMRT_PROGRAMS "/controlled-" + testing::controlled_builds().front(), name};
  auto made = TestProgram::create(test, {60, false});
  EXPECT_TRUE(made);
  return std::move(*made);
}

std::string ending(TestProgram& program, std::uint64_t max_points = 0) {
  testing::CheckPlan plan;
  plan.max_points = max_points;
  const auto seen = program.run(plan);
  EXPECT_TRUE(seen);
  return seen ? seen->ending : "";
}

TEST(Livelock, LoopsThatGiveUpLookingAreNone) {
  TestProgram patient = program("patience");
  EXPECT_EQ(ending(patient), "passed");
  EXPECT_EQ(ending(patient, 3'000'000), "passed");
}

TEST(Livelock, LoopsThatNeverDoAreOneAndThenAtOnce) {
  TestProgram endless = program("livelock");
  EXPECT_THAT(ending(endless), ::testing::StartsWith("livelock"));
  const auto before = endless.executions();
  EXPECT_THAT(ending(endless), ::testing::StartsWith("livelock"));
  EXPECT_EQ(endless.executions(), before + 1) << "it is believed";
}

// The runtime by itself.
TEST(Livelock, WhoAllowsManyPointsIsPatient) {
  testing::CheckProgram looks = testing::controlled_program(testing::controlled_builds().front(), "patience");
  testing::CheckPlan plan;
  EXPECT_EQ(run(looks, plan).end, testing::CheckEnd::Livelock);
  plan.max_points = 10'000'000;
  EXPECT_EQ(run(looks, plan).end, testing::CheckEnd::Finished);
}

TEST(Livelock, WhoIsAloneWaitsForNobody) {
  testing::CheckProgram alone = testing::controlled_program(testing::controlled_builds().front(), "alone");
  EXPECT_EQ(run(alone, testing::CheckPlan{}).end, testing::CheckEnd::Finished);
}

}  // namespace
}  // namespace simrt::pipeline
