// Reads of the processor's time stamp counter under control: virtual time, and a SIGSEGV that is the
// program's as ever.
#include <gtest/gtest.h>

#include <csignal>

#include "controlled_run.h"

namespace simrt::testing {
namespace {

using format::StrategyKind;

CheckProgram reader(const std::string& build, const std::string& name, bool fork_server = true) {
  return program_of("time_stamps", build, name, fork_server);
}

CheckPlan random_plan(std::uint64_t seed = 7) {
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  plan.seed = seed;
  return plan;
}

// Elsewhere nothing is virtual.
#if defined(__x86_64__)

class TimeStamp : public ::testing::TestWithParam<std::string> {};

TEST_P(TimeStamp, ProgramsThatReadItWork) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = reader(build, GetParam());
    for (StrategyKind strategy : {StrategyKind::Default, StrategyKind::Random}) {
      CheckPlan plan = random_plan();
      plan.strategy = strategy;
      const CheckResult result = run(program, plan);
      EXPECT_EQ(result.end, CheckEnd::Finished) << build << " " << result.output;
      EXPECT_EQ(result.status, 0) << build << " " << result.output;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Control, TimeStamp,
                         ::testing::Values("values", "sameclock", "spins", "jumps", "staysblocked", "returns",
                                           "ownstack", "tinystack", "overflows", "simplehandlers", "pending",
                                           "masks", "beforemain", "forked", "executed", "vforkedhandlers",
                                           "kernelscode", "timerthread", "foreignthread", "handlersread",
                                           "forbidden"),
                         [](const auto& info) { return info.param; });

class Crash : public ::testing::TestWithParam<std::string> {};

TEST_P(Crash, EndsBySegmentationFault) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = reader(build, GetParam());
    const CheckResult result = run(program, random_plan());
    EXPECT_EQ(result.end, CheckEnd::Crashed) << build << " " << result.output;
    EXPECT_EQ(result.status, SIGSEGV) << build << " " << result.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Control, Crash,
                         ::testing::Values("crash", "crashnowhere", "crashprotected", "crashinhandler",
                                           "crashblocked", "crashignored", "crashraised", "crashafterreset",
                                           "crashagain", "crashoverflow"),
                         [](const auto& info) { return info.param; });

TEST(TimeStamps, OneSeedSeesTheSameValues) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = reader(build, "values");
    const CheckResult first = run(program, random_plan(3));
    EXPECT_NE(first.output.find("slept"), std::string::npos) << build;
    for (int i = 0; i < 5; ++i) {
      const CheckResult again = run(program, random_plan(3));
      EXPECT_EQ(again.output, first.output) << build;
      EXPECT_TRUE(same_schedule(first.execution, again.execution)) << build;
    }
    const CheckResult replayed = run(program, replay_of(first.execution));
    EXPECT_EQ(replayed.output, first.output) << build;
    CheckProgram fresh = reader(build, "values", false);
    EXPECT_EQ(run(fresh, random_plan(3)).output, first.output) << build;
    EXPECT_NE(run(program, random_plan(4)).output, first.output) << build;
  }
}

TEST(TimeStamps, ASpinIsReplayed) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = reader(build, "spins");
    const CheckResult first = run(program, random_plan());
    const CheckResult again = run(program, replay_of(first.execution));
    EXPECT_EQ(again.end, CheckEnd::Finished) << build;
    EXPECT_EQ(again.execution.points, first.execution.points) << build;
    EXPECT_EQ(again.execution.virtual_ns, first.execution.virtual_ns) << build;
  }
}

TEST(TimeStamps, AreRealInFreeRunsAndOnRealTime) {
  for (const auto mode : {format::RunMode::Off, format::RunMode::Detect, format::RunMode::Control}) {
    CheckProgram program = reader(controlled_builds().front(), "allowed");
    CheckPlan plan;
    plan.mode = mode;
    if (mode == format::RunMode::Control) plan.flags = format::kPlanRealTime;
    const CheckResult result = run(program, plan);
    EXPECT_EQ(result.end, CheckEnd::Finished);
    EXPECT_EQ(result.status, 0);
  }
}

#endif

TEST(TimeStamps, ProgramsThatDoNotReadThemAreLeftAlone) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "timestampsleft");
    EXPECT_EQ(run(program, CheckPlan{}).status, 0) << build;
  }
}

}  // namespace
}  // namespace simrt::testing
