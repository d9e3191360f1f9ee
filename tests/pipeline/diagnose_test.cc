// What failing executions have in common: patterns and orders from hand-made traces.
#include "pipeline/check/diagnose.h"

#include <gtest/gtest.h>

#include <string>

namespace simrt::pipeline {
namespace {

using format::EventKind;

/// "0Rx1": thread 0 reads x at site 1; "0C1": creates thread 1; "1B": begins; "0J1": joins.
JudgedExecution made(const std::vector<std::string>& steps, bool failed) {
  JudgedExecution judged;
  judged.failed = failed;
  for (const std::string& step : steps) {
    format::RunEvent event = {};
    event.thread = static_cast<std::uint16_t>(step[0] - '0');
    event.callers = format::kRunNone;
    event.object = step.size() > 2 ? static_cast<std::uint64_t>(step[2]) * 64 : event.thread;
    event.size = 4;
    switch (step[1]) {
      case 'R':
      case 'W':
        event.kind = static_cast<std::uint8_t>(step[1] == 'R' ? EventKind::Read : EventKind::Write);
        event.pc = 1000 + static_cast<std::uint64_t>(step[3] - '0');
        break;
      case 'C':
      case 'J':
        event.kind = static_cast<std::uint8_t>(step[1] == 'C' ? EventKind::Create : EventKind::Join);
        event.object = static_cast<std::uint64_t>(step[2] - '0');
        break;
      default:
        event.kind = static_cast<std::uint8_t>(step[1] == 'B' ? EventKind::Begin : EventKind::End);
    }
    judged.execution.events.push_back(event);
  }
  return judged;
}

std::string sites_of(const Diagnosis& diagnosis, const std::vector<JudgedExecution>& executions) {
  std::string sites;
  for (const DiagnosedStep& step : diagnosis.steps)
    sites += std::to_string(executions[step.execution].execution.events[step.event].pc - 1000);
  return sites;
}

TEST(Diagnose, ATestedValueThatIsOverwritten) {
  const std::vector<JudgedExecution> executions = {
      made({"0C1", "1B", "0Rx1", "1Wx3", "0Wx2", "0J1", "0Rx4"}, true),
      made({"0C1", "1B", "0Rx1", "0Wx2", "1Wx3", "0J1", "0Rx4"}, false),
      made({"0C1", "1B", "1Wx3", "0Rx1", "0Wx2", "0J1", "0Rx4"}, false),
  };
  const auto found = diagnose(executions);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, 7U);
  EXPECT_EQ(sites_of(*found, executions), "132");
  EXPECT_EQ(found->failing_with, 1U);
  EXPECT_EQ(found->passing_with, 0U);
}

TEST(Diagnose, AReaderThatDiesBetweenTwoWritesOfTwoVariables) {
  // The second write never comes; passing executions tell that it would have.
  const std::vector<JudgedExecution> executions = {
      made({"0C1", "1B", "1Wx1", "0Ry3", "0Rx4"}, true),
      made({"0C1", "1B", "1Wx1", "1Wy2", "0Ry3", "0Rx4"}, false),
      made({"0C1", "1B", "0Ry3", "0Rx4", "1Wx1", "1Wy2"}, false),
  };
  const auto found = diagnose(executions);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, 13U);
  EXPECT_EQ(sites_of(*found, executions), "1342");
}

TEST(Diagnose, WhatCreationOrdersBelongsToNoPattern) {
  // The first write comes before the thread exists: only "read before the second write" is left.
  const std::vector<JudgedExecution> executions = {
      made({"0Wx1", "0C1", "1B", "1Rx3"}, true),
      made({"0Wx1", "0C1", "1B", "0Wx2", "1Rx3"}, false),
  };
  const auto found = diagnose(executions);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, 0U);
  EXPECT_EQ(sites_of(*found, executions), "32");
}

TEST(Diagnose, AWriteThatComesTooEarly) {
  const std::vector<JudgedExecution> executions = {
      made({"0C1", "1B", "0Wx1", "1Rx2"}, true),
      made({"0C1", "1B", "1Rx2", "0Wx1"}, false),
  };
  const auto found = diagnose(executions);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, 0U);
  EXPECT_EQ(sites_of(*found, executions), "12");
}

TEST(Diagnose, AReaderThatNeedsNoOthersWriteIsNotOneThatCameTooEarly) {
  // Each thread reads its own element and the other's at one place; its own one it always finds.
  const std::vector<JudgedExecution> executions = {
      made({"0C1", "1B", "0Wx1", "0Rx3", "0Ry3"}, true),
      made({"0C1", "1B", "0Wx1", "1Wy1", "0Rx3", "0Ry3"}, false),
      made({"0C1", "1B", "1Wy1", "0Wx1", "0Rx3", "0Ry3"}, false),
      made({"0C1", "1B", "1Wy1", "1Rx3", "1Ry3", "0Wx1"}, true),
  };
  const auto found = diagnose(executions);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, 0U);
  EXPECT_EQ(sites_of(*found, executions), "31");
  EXPECT_EQ(found->failing_with, 2U);
  EXPECT_EQ(found->passing_with, 0U);
}

TEST(Diagnose, WhatPassingExecutionsDoAsWellIsNoCause) {
  const std::vector<std::string> steps = {"0C1", "1B", "0Rx1", "1Wx3", "0Wx2"};
  EXPECT_FALSE(diagnose({made(steps, true), made(steps, false), made(steps, false)}));
  EXPECT_FALSE(diagnose({}));
}

}  // namespace
}  // namespace simrt::pipeline
