// How a process may end, and its children: nothing that was covered is lost, and nobody writes to another's
// trace.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "recorded.h"

namespace simrt::runtime_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::Trace;
using ::testing::UnorderedElementsAre;

class Processes : public ::testing::TestWithParam<std::string> {
 protected:
  std::string scenarios() const { return program("scenarios-" + GetParam()); }
  RecordedRun run(const std::string& scenario) const { return record({scenarios(), scenario}); }

  void expect_threads_survive(const std::string& scenario, int status) {
    const RecordedRun dead = run(scenario);
    EXPECT_EQ(dead.status, status);
    ASSERT_THAT(dead.traces, SizeIs(1));
    const Trace& trace = dead.traces[0];
    EXPECT_FALSE(trace.complete);
    ASSERT_THAT(trace.threads, SizeIs(3));
    EXPECT_THAT(work_of(trace, trace.threads[0]), UnorderedElementsAre("work_static"));
    EXPECT_THAT(work_of(trace, trace.threads[1]), UnorderedElementsAre("work_beta"));
    EXPECT_THAT(work_of(trace, trace.threads[2]), UnorderedElementsAre("work_alpha"));
    EXPECT_TRUE(trace.threads[1].alive_at_end);
    EXPECT_TRUE(trace.threads[2].alive_at_end);
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Processes, ::testing::ValuesIn(variants()), [](const auto& info) {
  return info.param.substr(0, info.param.find('-')) + info.param.substr(info.param.find('-') + 1);
});

TEST_P(Processes, CrashKeepsEverything) { expect_threads_survive("crash", -SIGSEGV); }
TEST_P(Processes, AbortKeepsEverything) { expect_threads_survive("abort", -SIGABRT); }
TEST_P(Processes, UnderscoreExitKeepsEverything) { expect_threads_survive("exit", 3); }
TEST_P(Processes, KillKeepsEverything) { expect_threads_survive("kill", -SIGKILL); }

TEST_P(Processes, KilledFromOutsideWhileRunning) {
  const Scratch scratch;
  const pid_t child = start({scenarios(), "spin"}, {{"SIMRT_TRACE", scratch.file("trace")}}, scratch.path());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool all_running = false;
  while (!all_running &&
         std::chrono::steady_clock::now() < deadline) {  // also: reading a live trace is harmless
    const auto live = testing::read_trace(scratch.file("trace"));
    all_running =
        live && threads_with(*live, "work_alpha").size() == 4 && !threads_with(*live, "work_beta").empty();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  ASSERT_TRUE(all_running);
  const auto trace = testing::read_trace(scratch.file("trace"));
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->complete);
  EXPECT_THAT(threads_with(*trace, "work_alpha"), ElementsAre(1u, 2u, 3u, 4u));
  EXPECT_THAT(threads_with(*trace, "work_beta"), ElementsAre(0u));
}

TEST_P(Processes, ForkedChildHasItsOwnTrace) {
  const RecordedRun forked = run("fork");
  EXPECT_EQ(forked.status, 0);
  ASSERT_THAT(forked.traces, SizeIs(2));
  const Trace &parent = forked.traces[0], &child = forked.traces[1];
  EXPECT_THAT(work_of(parent, parent.threads[0]), UnorderedElementsAre("work_static", "work_after"));
  EXPECT_TRUE(parent.complete);
  EXPECT_FALSE(parent.forked);
  EXPECT_THAT(work_of(child, child.threads[0]), UnorderedElementsAre("work_child"));
  EXPECT_TRUE(child.forked);
  EXPECT_EQ(child.parent_pid, parent.pid);
  EXPECT_EQ(child.parent_thread, 0u);
  EXPECT_FALSE(child.complete);  // _exit
}

TEST_P(Processes, ForkInAThreadNamesTheThreadAndMayStartThreads) {
  const RecordedRun forked = run("fork_in_thread");
  EXPECT_EQ(forked.status, 0);
  ASSERT_THAT(forked.traces, SizeIs(2));
  const Trace &parent = forked.traces[0], &child = forked.traces[1];
  EXPECT_THAT(threads_with(parent, "work_after"), ElementsAre(2u));
  EXPECT_THAT(threads_with(parent, "work_child"), IsEmpty());
  EXPECT_EQ(child.parent_thread, 2u);
  ASSERT_THAT(child.threads, SizeIs(2));
  EXPECT_THAT(work_of(child, child.threads[0]), UnorderedElementsAre("work_child"));
  EXPECT_THAT(work_of(child, child.threads[1]), UnorderedElementsAre("work_beta"));
  EXPECT_EQ(child.threads[1].parent, 0u);
}

TEST_P(Processes, ForkWithoutHandlers) {
  const RecordedRun forked = run("_Fork");
  EXPECT_EQ(forked.status, 0);
  ASSERT_THAT(forked.traces, SizeIs(2));
  EXPECT_THAT(threads_with(forked.traces[0], "work_child"), IsEmpty());
  EXPECT_THAT(threads_with(forked.traces[1], "work_child"), ElementsAre(0u));
  EXPECT_THAT(threads_with(forked.traces[1], "work_beta"), ElementsAre(1u));
}

// No handler can run: until the child creates a thread its hits count for the parent's thread; then it has a
// trace.
TEST_P(Processes, RawForkNeverDamagesTheParentsTrace) {
  const RecordedRun forked = run("raw_fork");
  EXPECT_EQ(forked.status, 0);
  ASSERT_THAT(forked.traces, SizeIs(2));
  const Trace &parent = forked.traces[0], &child = forked.traces[1];
  EXPECT_TRUE(parent.complete);
  ASSERT_THAT(parent.threads, SizeIs(1));
  EXPECT_THAT(threads_with(parent, "work_after"), ElementsAre(0u));
  EXPECT_THAT(threads_with(parent, "work_beta"), IsEmpty());
  EXPECT_TRUE(child.forked);
  EXPECT_THAT(threads_with(child, "work_beta"), ElementsAre(1u));
}

TEST_P(Processes, ExecutedChildHasItsOwnTrace) {
  for (const char* how : {"exec", "spawn"}) {
    const RecordedRun executed = run(how);
    EXPECT_EQ(executed.status, 0);
    ASSERT_THAT(executed.traces, SizeIs(2)) << how;
    const Trace &parent = executed.traces[0], &child = executed.traces[1];
    EXPECT_THAT(threads_with(parent, "work_after"), ElementsAre(0u));
    EXPECT_THAT(threads_with(parent, "work_alpha"), IsEmpty());
    EXPECT_FALSE(child.forked);
    EXPECT_EQ(child.parent_pid, parent.pid);
    EXPECT_TRUE(child.complete);
    EXPECT_THAT(threads_with(child, "work_alpha"), ElementsAre(1u));
    EXPECT_THAT(threads_with(child, "work_beta"), ElementsAre(2u));
  }
}

TEST_P(Processes, WithoutTheVariableNothingIsRecorded) {
  const Scratch scratch;
  for (const char* scenario :
       {"two_threads", "standard_library", "fork_in_thread", "short_lived", "at_exit"}) {
    EXPECT_EQ(wait_for(start({scenarios(), scenario}, {}, scratch.path())), 0) << scenario;
    EXPECT_EQ(wait_for(start({scenarios(), scenario}, {{"SIMRT_TRACE", ""}}, scratch.path())), 0) << scenario;
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST_P(Processes, AnExistingFileIsNeverOverwritten) {
  const Scratch scratch;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(wait_for(start({scenarios(), "two_threads"}, {{"SIMRT_TRACE", "trace"}}, scratch.path())), 0);
  }
  const auto files =
      testing::trace_files(scratch.file("trace"));  // the relative name was taken from the start directory
  ASSERT_THAT(files, SizeIs(2));
  for (const std::string& file : files) {
    const auto trace = testing::read_trace(file);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->complete);
    EXPECT_THAT(trace->threads, SizeIs(3));
  }
}

}  // namespace
}  // namespace simrt::runtime_test
