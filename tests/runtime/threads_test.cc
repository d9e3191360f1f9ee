// Which thread covered what: for every compiler, through programs built with the wrappers.
#include <gmock/gmock.h>

#include "recorded.h"

namespace simrt::runtime_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;
using testing::Trace;
using testing::TraceThread;
using ::testing::UnorderedElementsAre;

class Threads : public ::testing::TestWithParam<std::string> {
 protected:
  // The trace of a run that must end well.
  Trace trace_of(const std::string& scenario, const std::string& build = "scenarios-") {
    const RecordedRun run = record({program(build + GetParam()), scenario});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.traces, SizeIs(1));
    if (run.traces.empty()) return {};
    EXPECT_TRUE(run.traces[0].complete);
    return run.traces[0];
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Threads, ::testing::ValuesIn(variants()), [](const auto& info) {
  return info.param.substr(0, info.param.find('-')) + info.param.substr(info.param.find('-') + 1);
});

TEST_P(Threads, EachThreadHasItsOwnBlocks) {
  const Trace trace = trace_of("two_threads");
  ASSERT_THAT(trace.threads, SizeIs(3));
  EXPECT_THAT(work_of(trace, trace.threads[0]), UnorderedElementsAre("work_static"));
  EXPECT_THAT(work_of(trace, trace.threads[1]), UnorderedElementsAre("work_alpha"));
  EXPECT_THAT(work_of(trace, trace.threads[2]), UnorderedElementsAre("work_beta"));
  EXPECT_FALSE(trace.overflowed);
}

TEST_P(Threads, BlocksThatDidNotRunAreInTheTableButNotCovered) {
  const Trace trace = trace_of("two_threads");
  ASSERT_THAT(trace.modules, SizeIs(1));
  ASSERT_THAT(trace.threads, SizeIs(3));
  EXPECT_GT(trace.modules[0].pcs.size(), 200u);
  EXPECT_EQ(trace.modules[0].pcs.size(), trace.modules[0].entry.size());
  EXPECT_THAT(threads_with(trace, "work_never"), IsEmpty());
  // work_alpha(3) takes one arm of its condition: fewer blocks than work_alpha has.
  EXPECT_LT(trace.threads[1].covered[0].size(), trace.modules[0].pcs.size());
  EXPECT_EQ(trace.modules[0].pc_list_only, GetParam() == "gcc-12calls");
  EXPECT_THAT(trace.modules[0].build_id, SizeIs(40));
}

TEST_P(Threads, SiblingsFromOneSiteAreNumberedInOrder) {
  const Trace trace = trace_of("two_threads");
  ASSERT_THAT(trace.threads, SizeIs(3));
  EXPECT_EQ(trace.threads[0].parent, testing::kNoThread);
  EXPECT_EQ(trace.threads[0].site, "");
  EXPECT_EQ(trace.threads[1].parent, 0u);
  EXPECT_EQ(trace.threads[2].parent, 0u);
  EXPECT_EQ(trace.threads[1].site, trace.threads[2].site);  // both in join()
  EXPECT_EQ(trace.threads[1].site.rfind("scenarios-" + GetParam() + "+0x", 0), 0u) << trace.threads[1].site;
  EXPECT_EQ(trace.threads[1].ordinal, 0u);
  EXPECT_EQ(trace.threads[2].ordinal, 1u);
  // The chain tells the two calls of join() apart and ends in main.
  EXPECT_NE(trace.threads[1].frames[1].offset, trace.threads[2].frames[1].offset);
  EXPECT_THAT(creators(trace, trace.threads[1]), Contains("main"));
}

TEST_P(Threads, ChainLeadsThroughTheStandardLibraryToTheUsersFunction) {
  const Trace trace = trace_of("standard_library");
  ASSERT_THAT(trace.threads, SizeIs(3));
  for (const std::uint32_t index : {1u, 2u}) {
    EXPECT_THAT(creators(trace, trace.threads[index]), Contains("(anonymous namespace)::standard_library()"));
    EXPECT_THAT(creators(trace, trace.threads[index]), Contains("main"));
  }
  EXPECT_THAT(work_of(trace, trace.threads[1]), Contains("work_alpha"));
  EXPECT_THAT(work_of(trace, trace.threads[2]), Contains("work_beta"));
}

TEST_P(Threads, ParentsNest) {
  const Trace trace = trace_of("nested");
  ASSERT_THAT(trace.threads, SizeIs(3));
  EXPECT_EQ(trace.threads[1].parent, 0u);
  EXPECT_EQ(trace.threads[2].parent, 1u);
  EXPECT_THAT(work_of(trace, trace.threads[2]), UnorderedElementsAre("work_beta"));
}

TEST_P(Threads, C11ThreadsAreSeen) {
  const Trace trace = trace_of("c11");
  ASSERT_THAT(trace.threads, SizeIs(2));
  EXPECT_EQ(trace.threads[1].parent, 0u);
  EXPECT_NE(trace.threads[1].site, "");
  EXPECT_THAT(threads_with(trace, "work_alpha"), ElementsAre(1u));
}

TEST_P(Threads, InitialisersBeforeMainBelongToTheFirstThread) {
  const Trace trace = trace_of("two_threads");
  EXPECT_THAT(threads_with(trace, "work_static"), ElementsAre(0u));
}

TEST_P(Threads, ExitHandlersBelongToTheThreadThatExits) {
  const Trace trace = trace_of("at_exit");
  EXPECT_THAT(threads_with(trace, "work_atexit"), ElementsAre(0u));
}

TEST_P(Threads, ThreeHundredShortLivedThreads) {
  const Trace trace = trace_of("short_lived");
  ASSERT_THAT(trace.threads, SizeIs(301));
  for (std::size_t i = 1; i < trace.threads.size(); ++i) {
    EXPECT_EQ(trace.threads[i].index, i);
    EXPECT_EQ(trace.threads[i].ordinal, i - 1);
    EXPECT_FALSE(trace.threads[i].alive_at_end);
    EXPECT_THAT(work_of(trace, trace.threads[i]),
                UnorderedElementsAre(i % 2 == 1 ? "work_alpha" : "work_beta"));
  }
  EXPECT_FALSE(trace.overflowed);
}

TEST_P(Threads, FiveHundredThreadsAtOnce) {
  const Trace trace = trace_of("together");
  ASSERT_THAT(trace.threads, SizeIs(501));
  EXPECT_THAT(threads_with(trace, "work_alpha"), SizeIs(250));
  EXPECT_THAT(threads_with(trace, "work_beta"), SizeIs(250));
  EXPECT_FALSE(trace.overflowed);
}

TEST_P(Threads, DetachedThreadsAreAliveAtTheEnd) {
  const Trace trace = trace_of("detached");
  ASSERT_THAT(trace.threads, SizeIs(4));
  EXPECT_THAT(threads_with(trace, "work_alpha"), ElementsAre(1u, 2u, 3u));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(trace.threads[i].alive_at_end);
  EXPECT_THAT(trace.notes, Contains("3 threads alive at exit"));
}

TEST_P(Threads, SignalHandlersCountForTheInterruptedThread) {
  const Trace trace = trace_of("signal_handler");
  EXPECT_THAT(threads_with(trace, "work_handler"), ElementsAre(1u));
}

TEST_P(Threads, DestructorsAtThreadEndCountForTheThread) {
  const Trace trace = trace_of("thread_end");
  EXPECT_THAT(threads_with(trace, "work_tls"), ElementsAre(1u));
  EXPECT_THAT(threads_with(trace, "work_key"), ElementsAre(1u));
  EXPECT_FALSE(trace.threads.at(1).alive_at_end);
}

TEST_P(Threads, PthreadExitAndCancelEndAThread) {
  const Trace trace = trace_of("thread_exits_early");
  ASSERT_THAT(trace.threads, SizeIs(3));
  EXPECT_FALSE(trace.threads[1].alive_at_end);
  EXPECT_FALSE(trace.threads[2].alive_at_end);
  EXPECT_THAT(work_of(trace, trace.threads[1]), UnorderedElementsAre("work_alpha"));
  EXPECT_THAT(work_of(trace, trace.threads[2]), UnorderedElementsAre("work_beta"));
}

TEST_P(Threads, UnseenThreadsCountAsSeveral) {
  const Trace trace = trace_of("unseen_thread");
  EXPECT_THAT(shared_work(trace), Contains("work_unseen"));
  EXPECT_THAT(threads_with(trace, "work_unseen"), IsEmpty());
  EXPECT_TRUE(trace.overflowed);
}

TEST_P(Threads, OptimisedProgramsAreRecordedToo) {
  const Trace trace = trace_of("two_threads", "optimized-");
  ASSERT_THAT(trace.threads, SizeIs(3));
  EXPECT_THAT(work_of(trace, trace.threads[1]), UnorderedElementsAre("work_alpha"));
  EXPECT_THAT(work_of(trace, trace.threads[2]), UnorderedElementsAre("work_beta"));
}

}  // namespace
}  // namespace simrt::runtime_test
