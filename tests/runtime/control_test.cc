// Controlled executions of real programs: every primitive works under the engine, schedules repeat, deadlocks
// are told from waiting.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "controlled_run.h"

namespace simrt::testing {
namespace {

using format::StrategyKind;

class Primitive : public ::testing::TestWithParam<std::string> {};

TEST_P(Primitive, WorksUnderEveryStrategyAndBuild) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, GetParam());
    for (StrategyKind strategy :
         {StrategyKind::Default, StrategyKind::Random, StrategyKind::Pct, StrategyKind::Pos}) {
      CheckPlan plan;
      plan.strategy = strategy;
      plan.length = 400;
      plan.seed = 7;
      const CheckResult result = run(program, plan);
      EXPECT_EQ(result.end, CheckEnd::Finished)
          << build << " " << static_cast<int>(strategy) << result.output;
      EXPECT_EQ(result.status, 0) << build << " " << static_cast<int>(strategy) << result.output;
      EXPECT_GT(result.execution.points, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Control, Primitive,
                         ::testing::Values("mutexes", "rwlock", "cond", "timed", "sems", "barriers", "once",
                                           "statics", "atomicwait", "jthreads", "asyncs", "spins", "spinlock",
                                           "c11", "exitrunning", "pexit", "futexes", "tls", "sharedptr",
                                           "busytime", "timedjoin", "clocksleep", "nosuchbug", "cancels",
                                           "cancelpoints", "signals", "barewait"),
                         [](const auto& info) { return info.param; });

class Outside : public ::testing::TestWithParam<std::string> {};

TEST_P(Outside, WorksWithOtherProcessesAndTheKernel) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, GetParam());
    CheckPlan plan;
    plan.strategy = StrategyKind::Random;
    const CheckResult result = run(program, plan);
    EXPECT_EQ(result.end, CheckEnd::Finished) << build << result.output;
    EXPECT_EQ(result.status, 0) << build << result.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Control, Outside,
                         ::testing::Values("forks", "pipes", "childproc", "rawsleep", "timerthread"),
                         [](const auto& info) { return info.param; });

TEST(Control, ASpuriousWakeUpIsMadeOnRequestAndReplayed) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "barewait");
    bool woken = false;
    for (unsigned seed = 1; seed <= 40 && !woken; ++seed) {
      CheckPlan plan;
      plan.strategy = StrategyKind::Random;
      plan.seed = seed;
      plan.flags = format::kPlanSpuriousWakeups;
      const CheckResult result = run(program, plan);
      ASSERT_EQ(result.end, CheckEnd::Finished) << build << result.output;
      woken = result.status == 1;
      if (!woken) continue;
      CheckPlan again = replay_of(result.execution);
      again.flags |= format::kPlanSpuriousWakeups;
      for (int i = 0; i < 10; ++i) EXPECT_EQ(run(program, again).status, 1) << build;
    }
    EXPECT_TRUE(woken) << build;
  }
}

TEST(Control, AThreadThatLibcStartsIsTakenUpAndSaid) {
  CheckProgram program = controlled_program(controlled_builds().front(), "timerthread");
  CheckPlan plan;
  const CheckResult result = run(program, plan);
  EXPECT_EQ(result.end, CheckEnd::Finished) << result.output;
  EXPECT_NE(result.execution.uncontrolled & format::kUncontrolledForeignThread, 0U);
}

TEST(Control, NothingWaitsForADisk) {
  for (const auto mode : {format::RunMode::Control, format::RunMode::Off}) {
    CheckProgram program = controlled_program(controlled_builds().front(), "disk");
    CheckPlan plan;
    plan.mode = mode;
    EXPECT_EQ(run(program, plan).status, mode == format::RunMode::Control ? 0 : 1);
  }
}

TEST(Control, PreemptionsEndAtTheirBound) {
  CheckProgram program = controlled_program(controlled_builds().front(), "mutexes");
  for (const std::uint32_t bound : {1U, 3U}) {
    CheckPlan plan;
    plan.strategy = StrategyKind::Random;
    plan.bound = bound;
    const CheckResult result = run(program, plan);
    EXPECT_EQ(result.end, CheckEnd::Finished) << result.output;
    EXPECT_LE(result.execution.preemptions, bound);
  }
}

TEST(Control, RealTimeEndsAtItsLimit) {
  CheckProgram program = controlled_program(controlled_builds().front(), "endless");
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  plan.max_milliseconds = 50;
  const CheckResult result = run(program, plan);
  EXPECT_EQ(result.end, CheckEnd::TimedOut) << result.output;
}

TEST(Control, AFreeRunIsNotTouched) {
  for (const auto mode : {format::RunMode::Off, format::RunMode::Detect}) {
    CheckProgram program = controlled_program(controlled_builds().front(), "cond");
    CheckPlan plan;
    plan.mode = mode;
    const CheckResult result = run(program, plan);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.execution.points, 0U);
  }
}

TEST(Control, TheSameSeedTakesTheSameSchedule) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "cond");
    CheckPlan plan;
    plan.strategy = StrategyKind::Random;
    plan.seed = 42;
    const CheckResult first = run(program, plan);
    EXPECT_GT(first.execution.schedule.size(), 10U);
    for (int i = 0; i < 10; ++i)
      EXPECT_TRUE(same_schedule(first.execution, run(program, plan).execution)) << build;
    plan.seed = 43;
    EXPECT_FALSE(same_schedule(first.execution, run(program, plan).execution)) << build;
  }
}

CheckResult first_failure(CheckProgram& program, CheckPlan plan, int tries) {
  for (int seed = 1; seed <= tries; ++seed) {
    plan.seed = static_cast<std::uint64_t>(seed);
    CheckResult result = run(program, plan);
    if (result.failed()) return result;
  }
  return {};
}

TEST(Control, AFailureIsReplayedAHundredTimes) {
  for (const std::string& build : {controlled_builds().front(), controlled_builds().back()}) {
    CheckProgram program = controlled_program(build, "account");
    CheckPlan plan;
    plan.strategy = StrategyKind::Random;
    const CheckResult failure = first_failure(program, plan, 300);
    ASSERT_TRUE(failure.failed()) << build;
    const CheckPlan replay = replay_of(failure.execution);
    for (int i = 0; i < 100; ++i) {
      const CheckResult again = run(program, replay);
      ASSERT_EQ(again.end, failure.end);
      ASSERT_EQ(again.status, failure.status);
      ASSERT_TRUE(same_schedule(failure.execution, again.execution));
    }
    CheckProgram fresh = controlled_program(build, "account", false);  // without the fork server
    EXPECT_EQ(run(fresh, replay).status, failure.status);
  }
}

TEST(Control, AScheduleOfAnotherExecutionDiverges) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  const CheckPlan replay = replay_of(run(program, plan).execution);
  CheckProgram other = controlled_program(controlled_builds().front(), "once");
  const CheckResult result = run(other, replay);
  EXPECT_EQ(result.end, CheckEnd::Diverged);
  EXPECT_GT(result.execution.diverged_at, 0U);
}

TEST(Control, ADeadlockSaysWhoWaitsForWhom) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "deadlock");
    const CheckResult result = run(program, CheckPlan{});
    ASSERT_EQ(result.end, CheckEnd::Deadlock) << build;
    const auto& waits = result.execution.waits;
    ASSERT_EQ(waits.size(), 2U);
    EXPECT_EQ(waits[0].wait.awaited, waits[1].wait.thread);
    EXPECT_EQ(waits[1].wait.awaited, waits[0].wait.thread);
    ASSERT_EQ(waits[0].held.size(), 1U);
    EXPECT_EQ(waits[0].held[0].lock, waits[1].wait.object);
    EXPECT_TRUE(result.execution.site_of(waits[0].wait.pc));
  }
}

TEST(Control, WithADetectorStacksAreWhole) {
  CheckProgram program = controlled_program(controlled_builds().front(), "deadlock");
  CheckPlan plan;
  plan.detectors = format::kDetectRaces | format::kDetectLockCycles;
  const CheckResult result = run(program, plan);
  ASSERT_EQ(result.end, CheckEnd::Deadlock);
  ASSERT_LT(result.execution.waits[1].wait.stack, result.execution.stacks.size());
  EXPECT_GT(result.execution.stacks[result.execution.waits[1].wait.stack].size(), 2U);
}

TEST(Control, EveryFrameOfEveryEventIsLoadedCode) {
  for (const char* scenario : {"deadlock", "lostwakeup", "timed"}) {
    CheckProgram program = controlled_program(controlled_builds().front(), scenario);
    CheckPlan plan;
    plan.flags = format::kPlanRecordEvents;
    plan.detectors = format::kDetectRaces | format::kDetectLockCycles;
    const CheckResult result = run(program, plan);
    ASSERT_FALSE(result.execution.events.empty()) << scenario;
    std::size_t frames = 0;
    for (const format::RunEvent& event : result.execution.events) {
      if (event.callers >= result.execution.stacks.size()) continue;
      for (const std::uint64_t pc : result.execution.stacks[event.callers]) {
        ++frames;
        EXPECT_TRUE(result.execution.site_of(pc)) << scenario << ": " << std::hex << pc;
      }
    }
    EXPECT_GT(frames, 0U) << scenario;
  }
}

TEST(Control, ADetectorChangesNoExecution) {
  // What the runtime itself calls to learn of callers (the unwinder and its once) is no doing of the program:
  // a schedule would be of another execution as soon as somebody looks.
  for (const char* scenario : {"deadlock", "lostwakeup", "timed", "once", "mutexes"}) {
    CheckProgram program = controlled_program(controlled_builds().front(), scenario);
    for (const std::uint64_t seed : {1, 2, 3}) {
      CheckPlan plan;
      plan.strategy = StrategyKind::Random;
      plan.seed = seed;
      plan.flags = format::kPlanRecordEvents;
      const CheckResult alone = run(program, plan);
      plan.detectors = format::kDetectRaces | format::kDetectLockCycles | format::kDetectAtomicity;
      const CheckResult watched = run(program, plan);
      EXPECT_EQ(watched.end, alone.end) << scenario;
      EXPECT_EQ(watched.execution.points, alone.execution.points) << scenario;
      EXPECT_EQ(watched.execution.decisions, alone.execution.decisions) << scenario;
    }
  }
}

TEST(Control, AThreadThatWaitsForItselfAndALivelockAreFound) {
  CheckProgram self = controlled_program(controlled_builds().front(), "selflock");
  EXPECT_EQ(run(self, CheckPlan{}).end, CheckEnd::Deadlock);
  CheckProgram live = controlled_program(controlled_builds().front(), "livelock");
  EXPECT_EQ(run(live, CheckPlan{}).end, CheckEnd::Livelock);
}

TEST(Control, ALostWakeUpIsADeadlockUnderSomeSchedule) {
  CheckProgram program = controlled_program(controlled_builds().front(), "lostwakeup");
  CheckPlan plan;
  plan.strategy = StrategyKind::Random;
  EXPECT_EQ(first_failure(program, plan, 300).end, CheckEnd::Deadlock);
}

TEST(Control, TimeIsVirtual) {
  CheckProgram program = controlled_program(controlled_builds().front(), "timed");
  const CheckResult result = run(program, CheckPlan{});
  EXPECT_EQ(result.status, 0);
  EXPECT_GE(result.execution.virtual_ns, 7'200'000'000'000U);
  EXPECT_LT(result.seconds, 30);
}

TEST(Control, EventsCarryTheEnabledThreads) {
  CheckProgram program = controlled_program(controlled_builds().front(), "account");
  CheckPlan plan;
  plan.flags = format::kPlanRecordEvents;
  plan.strategy = StrategyKind::Random;
  const CheckResult result = run(program, plan);
  std::uint64_t decisions = 0;
  for (const auto& event : result.execution.events) {
    if ((event.order & format::kEventWithoutDecision) != 0) continue;
    ++decisions;
    EXPECT_NE(event.enabled & (std::uint64_t{1} << event.thread), 0U);
  }
  EXPECT_EQ(decisions, result.execution.points);
}

// Without optimisation all stores to atomics are made at one place, in a function of the library.
TEST(Control, EventsCarryTheCallsThatLedThere) {
  CheckProgram program = controlled_program(controlled_builds().front(), "atomicwait");
  CheckPlan plan;
  plan.flags = format::kPlanRecordEvents;
  const CheckResult result = run(program, plan);
  std::map<std::uint64_t, std::set<std::uint64_t>> calls;  // by program counter
  for (const auto& event : result.execution.events) {
    if (event.kind != static_cast<std::uint8_t>(format::EventKind::AtomicStore)) continue;
    calls[event.pc].insert(event.calls);
    EXPECT_TRUE(result.execution.calls.contains(event.calls));
  }
  ASSERT_FALSE(calls.empty());
  for (const auto& [pc, ways] : calls) EXPECT_EQ(ways.size(), 2U);
}

// Tries that get what they want are told from what would have waited (lower case); those of a thread that has
// it itself are no events at all.
TEST(Control, TriesAreMarkedAndThoseOfOnesOwnLockAreNoSteps) {
  const std::map<format::EventKind, char> names = {
      {format::EventKind::Lock, 'L'},          {format::EventKind::Unlock, 'u'},
      {format::EventKind::LockShared, 'S'},    {format::EventKind::UnlockShared, 'u'},
      {format::EventKind::SemaphoreWait, 'W'}, {format::EventKind::SemaphorePost, 'p'},
      {format::EventKind::TryFailed, '-'},     {format::EventKind::Join, 'J'}};
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "trylocks");
    CheckPlan plan;
    plan.flags = format::kPlanRecordEvents;
    const CheckResult result = run(program, plan);
    EXPECT_EQ(result.status, 0) << build << result.output;
    std::string seen;
    for (const format::RunEvent& event : result.execution.events) {
      const auto name = names.find(static_cast<format::EventKind>(event.kind));
      if (event.thread != 0 || name == names.end()) continue;
      const bool tried = (event.order & format::kEventTried) != 0;
      seen += tried ? static_cast<char>(std::tolower(name->second)) : name->second;
    }
    // Mutex (own one, tried, limit over, limit to come); recursive, spin, C11; write and read side;
    // semaphore.
    const std::string before = "LululuLu" + std::string("Lululu") + "luSsuu" + "w-pW";
    EXPECT_EQ(seen.substr(0, before.size()), before) << build;
    EXPECT_TRUE(seen.ends_with("-jJ")) << build << seen;
  }
}

TEST(Control, ALoopOfTriesOfOnesOwnLockPassesPoints) {
  CheckProgram program = controlled_program(controlled_builds().front(), "owntryloop");
  CheckPlan plan;
  plan.max_points = 50;
  EXPECT_EQ(run(program, plan).end, CheckEnd::Limit);
}

// The lock is free when it is asked for, and taken at the point before it is got.
TEST(Control, ATimeLimitHoldsWhereAnotherThreadIsQuicker) {
  for (const std::string& build : controlled_builds()) {
    CheckProgram program = controlled_program(build, "timedtaken");
    std::set<int> ends;
    for (unsigned seed = 1; seed <= 40; ++seed) {
      CheckPlan plan;
      plan.strategy = StrategyKind::Random;
      plan.seed = seed;
      const CheckResult result = run(program, plan);
      ASSERT_EQ(result.end, CheckEnd::Finished) << build << seed << result.output;
      ends.insert(result.status);
    }
    EXPECT_EQ(ends, (std::set<int>{0, 2})) << build;
  }
}

TEST(Control, PointsEndAtTheirLimit) {
  CheckProgram program = controlled_program(controlled_builds().front(), "cond");
  CheckPlan plan;
  plan.max_points = 50;
  plan.flags = format::kPlanRecordEvents;
  EXPECT_EQ(run(program, plan).end, CheckEnd::Limit);
}

// More call paths than are remembered, and then one of them for long: it is written once.
TEST(Control, CallPathsAreNotWrittenWithEachEvent) {
  CheckOptions options;
  options.command = {SIMRT_PROGRAMS "/controlled-" + controlled_builds().front(), "paths"};
  options.plan_bytes = 1 << 16;
  options.run_bytes = 4 << 20;
  auto program = CheckProgram::create(options);
  ASSERT_TRUE(program);
  CheckPlan plan;
  plan.flags = format::kPlanRecordEvents;
  const CheckResult seen = run(*program, plan);
  EXPECT_EQ(seen.end, CheckEnd::Finished);
  EXPECT_GT(seen.execution.calls.size(), 5000U);
  EXPECT_EQ(seen.execution.flags & format::kRunOverflow, 0U);
}

TEST(Control, WhatIsNoCheckBuildIsSaid) {
  CheckOptions options;
  options.command = {"/bin/true"};
  auto program = CheckProgram::create(options);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->run(CheckPlan{})->end, CheckEnd::NotUnderPlan);
}

TEST(Control, WhatIsNoCheckBuildIsSaidOfALongExecution) {
  CheckOptions options;
  options.command = {"/bin/sleep", "60"};
  options.timeout_seconds = 0.3;
  for (const bool fork_server : {false, true}) {
    options.fork_server = fork_server;
    auto program = CheckProgram::create(options);
    ASSERT_TRUE(program);
    EXPECT_EQ(program->run(CheckPlan{})->end, CheckEnd::NotUnderPlan) << fork_server;
  }
}

TEST(Control, EveryExecutionFindsItsTemporaryFilesEmpty) {
  CheckOptions options;
  options.command = {
      "/bin/sh", "-c",
      "test \"$TMPDIR\" = \"$TEST_TMPDIR\" && test ! -e $TMPDIR/left && mkdir -p $TMPDIR/left/x"};
  auto program = CheckProgram::create(options), other = CheckProgram::create(options);
  ASSERT_TRUE(program && other);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(program->run(CheckPlan{})->status, 0);
    EXPECT_EQ(other->run(CheckPlan{})->status, 0);
  }
}

}  // namespace
}  // namespace simrt::testing
