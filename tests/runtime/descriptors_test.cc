// Threads that wait for descriptors (programs/descriptors.cc): virtual time goes on at once where nobody
// outside can make one ready, and in real time where somebody can.
#include <gtest/gtest.h>

#include "controlled_run.h"

namespace simrt::testing {
namespace {

using format::StrategyKind;

CheckProgram descriptors_program(const std::string& build, const std::string& name) {
  return program_of("descriptors", build, name);
}

CheckPlan random_plan(std::uint64_t seed) {
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  plan.seed = seed;
  return plan;
}

// A child of the shell is the program under the plan; "$0" names it.
CheckProgram in_shell(const std::string& build, const std::string& script) {
  CheckOptions options;
  options.command = {"/bin/sh", "-c", script, SIMRT_PROGRAMS "/descriptors-" + build};
  options.fork_server = false;
  auto program = CheckProgram::create(options);
  EXPECT_TRUE(program);
  return std::move(*program);
}

class Within : public ::testing::TestWithParam<std::string> {};

TEST_P(Within, TimeLimitsTakeNoTime) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = descriptors_program(build, GetParam());
    for (const std::uint64_t seed : {1, 2}) {
      const CheckResult result = run(program, random_plan(seed));
      EXPECT_EQ(result.end, CheckEnd::Finished) << build << result.output;
      EXPECT_EQ(result.status, 0) << build << result.output;
      EXPECT_GE(result.execution.virtual_ns, 18'000'000'000U) << build;
      EXPECT_LT(result.seconds, 6) << build;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Descriptors, Within,
                         ::testing::Values("counterWithin", "pipeWithin", "pairWithin", "copyWithin",
                                           "epollWithin", "selectWithin", "tcpWithin", "listenersWithin",
                                           "receiveLimitWithin", "unarmedTimerWithin", "goneChildWithin",
                                           "defaultAlarmWithin"),
                         [](const auto& info) { return info.param; });

class Arrives : public ::testing::TestWithParam<std::string> {};

TEST_P(Arrives, BeforeTheTimeLimitIsOver) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = descriptors_program(build, GetParam());
    for (const std::uint64_t seed : {1, 2, 3}) {
      const CheckResult result = run(program, random_plan(seed));
      EXPECT_EQ(result.end, CheckEnd::Finished) << build << result.output;
      EXPECT_EQ(result.status, 0) << build << result.output;
      EXPECT_EQ(result.execution.uncontrolled, 0U) << build;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Descriptors, Arrives,
                         ::testing::Values("tcpArrives", "tcpDelayed", "tcpCloseArrives", "connectsInTurn",
                                           "portsAscend", "otherCalls", "epollGrows", "unseenWrite"),
                         [](const auto& info) { return info.param; });

class ForEver : public ::testing::TestWithParam<std::string> {};

TEST_P(ForEver, IsADeadlock) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = descriptors_program(build, GetParam());
    const CheckResult result = run(program, random_plan(1));
    ASSERT_EQ(result.end, CheckEnd::Deadlock) << build << result.output;
    EXPECT_LT(result.seconds, 6) << build;
    ASSERT_FALSE(result.execution.waits.empty());
    for (const auto& wait : result.execution.waits) {
      EXPECT_EQ(wait.wait.state, format::WaitState::Blocked);
      EXPECT_TRUE(result.execution.site_of(wait.wait.pc));
    }
    const CheckPlan replay = replay_of(result.execution);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(run(program, replay).end, CheckEnd::Deadlock) << build;
  }
}

INSTANTIATE_TEST_SUITE_P(Descriptors, ForEver, ::testing::Values("pipeForEver", "epollForEver", "tcpForEver"),
                         [](const auto& info) { return info.param; });

class SomebodyElse : public ::testing::TestWithParam<std::string> {};

TEST_P(SomebodyElse, IsWaitedFor) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = descriptors_program(build, GetParam());
    const CheckResult result = run(program, random_plan(1));
    EXPECT_EQ(result.end, CheckEnd::Finished) << build << result.output;
    EXPECT_EQ(result.status, 0) << build << result.output;
    EXPECT_GE(result.seconds, 0.09) << build;
  }
}

INSTANTIATE_TEST_SUITE_P(Descriptors, SomebodyElse,
                         ::testing::Values("childWrites", "childCounts", "childConnects", "childSignals",
                                           "grandchildWrites", "grandchildAccepts", "spawnedWrites",
                                           "systemWrites", "sentAway", "received", "alarmWrites", "timerRuns",
                                           "unseenThread", "kernelCounts"),
                         [](const auto& info) { return info.param; });

TEST(Descriptors, InheritedOnesAreWaitedFor) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = in_shell(build, "(sleep 0.2; echo x) | \"$0\" inherited");
    const CheckResult result = run(program, random_plan(1));
    EXPECT_EQ(result.end, CheckEnd::Finished) << build << result.output;
    EXPECT_EQ(result.status, 0) << build << result.output;
  }
}

TEST(Descriptors, AScriptMayHaveStartedWhoConnects) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program =
        in_shell(build, "(sleep 0.2; unset SIMRT_RUN; exec \"$0\" connects) & \"$0\" listens");
    const CheckResult result = run(program, random_plan(1));
    EXPECT_EQ(result.end, CheckEnd::Finished) << build << result.output;
    EXPECT_EQ(result.status, 0) << build << result.output;
  }
}

TEST(Descriptors, AReplayIsTheSameAHundredTimes) {
  for (const char* name : {"counterWithin", "listenersWithin", "tcpArrives", "connectsInTurn"}) {
    const std::string build = controlled_builds().front();
    CheckProgram program = descriptors_program(build, name);
    const CheckResult first = run(program, random_plan(3));
    const CheckPlan replay = replay_of(first.execution);
    for (int i = 0; i < 100; ++i) {
      const CheckResult again = run(program, replay);
      ASSERT_EQ(again.end, CheckEnd::Finished) << name;
      ASSERT_EQ(again.execution.points, first.execution.points) << name;
      ASSERT_EQ(again.execution.virtual_ns, first.execution.virtual_ns) << name;
      ASSERT_TRUE(same_schedule(first.execution, again.execution)) << name;
    }
  }
}

}  // namespace
}  // namespace simrt::testing
