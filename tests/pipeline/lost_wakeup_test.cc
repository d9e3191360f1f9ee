// Which notifications may come before the wait they are meant for, from hand-made traces.
#include "pipeline/check/lost_wakeup.h"

#include <gtest/gtest.h>

#include <string>

namespace simrt::pipeline {
namespace {

using format::EventKind;

EventKind kind_of(char letter) {
  switch (letter) {
    case 'L':
      return EventKind::Lock;
    case 'U':
      return EventKind::Unlock;
    case 'W':
      return EventKind::Wait;
    case 'N':
      return EventKind::Notify;
    default:
      return EventKind::NotifyAll;
  }
}

/// "0Lm": thread 0 locks m; "0Um" unlocks; "0Wc1" waits on c at site 1; "1Nc2" notifies one, "1Ac2" all.
testing::Execution made(const std::vector<std::string>& steps) {
  testing::Execution execution;
  execution.modules.push_back({{"program", ""}, true, 0, 0, 100'000});
  for (const std::string& step : steps) {
    format::RunEvent event = {};
    event.thread = static_cast<std::uint16_t>(step[0] - '0');
    event.kind = static_cast<std::uint8_t>(kind_of(step[1]));
    event.object = static_cast<std::uint64_t>(step[2]) * 64;
    event.pc = step.size() > 3 ? 1000 + static_cast<std::uint64_t>(step[3] - '0') : 500;
    event.callers = format::kRunNone;
    execution.events.push_back(event);
  }
  return execution;
}

/// "2<1 ": the notification at site 2 before the wait at site 1.
std::string hints(const std::vector<std::string>& steps) {
  Symbols symbols("/", nullptr);
  std::string text;
  for (const Candidate& candidate : lost_wakeups_of(made(steps), symbols)) {
    EXPECT_TRUE(candidate.weak);
    EXPECT_EQ(candidate.finding.kind, FindingKind::Hang);
    EXPECT_EQ(candidate.steps.size(), 2U);
    EXPECT_NE(candidate.steps[0].role, candidate.steps[1].role);
    EXPECT_EQ(candidate.steps[0].variable, candidate.steps[1].variable);
    text += std::to_string(candidate.steps[0].site.offset - 1000) + "<" +
            std::to_string(candidate.steps[1].site.offset - 1000) + " ";
  }
  return text;
}

TEST(LostWakeup, ANotificationWithoutTheWaitsMutex) {
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Nc2"}), "2<1 ");
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Lx", "1Ac2", "1Ux"}), "2<1 ");
  // Behind the critical section it is without the mutex again.
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Lm", "1Um", "1Nc2"}), "2<1 ");
}

TEST(LostWakeup, UnderTheMutexNoneCanComeInBetween) {
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Lm", "1Nc2", "1Um"}), "");
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Lm", "1Lx", "1Nc2", "1Ux", "1Um"}), "");
}

TEST(LostWakeup, OnlyOfTheSameConditionVariableAndAnotherThread) {
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Nd2"}), "");
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "0Nc2"}), "");
}

TEST(LostWakeup, EachPairOfPlacesOnce) {
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "1Nc2", "1Nc2", "0Lm", "0Wc1", "0Um", "1Nc3"}), "2<1 3<1 ");
}

TEST(LostWakeup, WhichMutexIsAskedForEachWait) {
  EXPECT_EQ(hints({"0Lm", "0Wc1", "0Um", "2Ln", "2Wc4", "2Un", "1Lm", "1Nc2", "1Um"}), "2<4 ");
}

TEST(LostWakeup, TheirNumberIsBounded) {
  std::vector<std::string> steps;
  for (char condition = 'A'; condition <= 'Z'; ++condition) {
    const std::string c(1, condition);
    for (const char* site : {"1", "2", "3"}) {
      steps.insert(steps.end(), {"0Lm", "0W" + c + site, "0Um"});
      steps.push_back("1N" + c + site);
    }
  }
  Symbols symbols("/", nullptr);
  EXPECT_EQ(lost_wakeups_of(made(steps), symbols).size(), 9U);  // the places, not the variables, count
  for (char site = ':'; site < ':' + 30; ++site) {
    steps.insert(steps.end(), {"0Lm", std::string("0Wc") + site, "0Um"});
    steps.push_back(std::string("1Nc") + site);
  }
  EXPECT_EQ(lost_wakeups_of(made(steps), symbols).size(), kMostLostWakeups);
}

}  // namespace
}  // namespace simrt::pipeline
