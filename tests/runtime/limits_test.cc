// When there is no room: the program runs on, and the trace says so.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "recorded.h"

namespace simrt::runtime_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Trace;

class Limits : public ::testing::TestWithParam<std::string> {
 protected:
  std::string scenarios() const { return program("scenarios-" + GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Limits, ::testing::ValuesIn(variants()), [](const auto& info) {
  return info.param.substr(0, info.param.find('-')) + info.param.substr(info.param.find('-') + 1);
});

TEST_P(Limits, FullFileFoldsThreadsIntoOneSharedMap) {
  const RecordedRun run = record({scenarios(), "together"}, {{"SIMRT_TRACE_LIMIT", "400000"}});
  EXPECT_EQ(run.status, 0);
  ASSERT_THAT(run.traces, SizeIs(1));
  const Trace& trace = run.traces[0];
  EXPECT_TRUE(trace.complete);
  EXPECT_TRUE(trace.overflowed);
  EXPECT_THAT(shared_work(trace), Contains("work_alpha"));
  EXPECT_THAT(shared_work(trace), Contains("work_beta"));
  EXPECT_GT(threads_with(trace, "work_alpha").size(), 0u);  // those that still had room
}

// The same, recycled: nothing is shared when threads come one after another.
TEST_P(Limits, EndedThreadsMakeRoom) {
  const RecordedRun run = record({scenarios(), "short_lived"}, {{"SIMRT_TRACE_LIMIT", "400000"}});
  ASSERT_THAT(run.traces, SizeIs(1));
  EXPECT_FALSE(run.traces[0].overflowed);
  EXPECT_THAT(run.traces[0].threads, SizeIs(301));
}

TEST_P(Limits, NoRoomForAnything) {
  for (const char* limit : {"1", "4096", "8192", "20000", "not-a-number"}) {
    const RecordedRun run = record({scenarios(), "two_threads"}, {{"SIMRT_TRACE_LIMIT", limit}});
    EXPECT_EQ(run.status, 0) << limit;
  }
}

TEST_P(Limits, UnwritablePlaceLeavesTheProgramAlone) {
  for (const char* place : {"/proc/self/nowhere/trace", "/proc/trace", "/"}) {
    const RecordedRun run = record({scenarios(), "two_threads"}, {{"SIMRT_TRACE", place}});
    EXPECT_EQ(run.status, 0) << place;
    EXPECT_THAT(run.traces, IsEmpty());
  }
}

TEST_P(Limits, ClosedDescriptorsAreNotMissed) {
  const RecordedRun run = record({scenarios(), "closed_descriptors"});
  EXPECT_EQ(run.status, 0);  // 1: the program's own file was written to
  ASSERT_THAT(run.traces, SizeIs(1));
  EXPECT_THAT(run.traces[0].threads, SizeIs(65));
  EXPECT_FALSE(run.traces[0].overflowed);
}

TEST_P(Limits, FileSizeLimitOfTheProgramDoesNotKillIt) {
  const RecordedRun run = record({scenarios(), "file_size_limit"});
  EXPECT_EQ(run.status, 0);
  ASSERT_THAT(run.traces, SizeIs(1));
  EXPECT_TRUE(run.traces[0].complete);
  EXPECT_TRUE(run.traces[0].overflowed);
}

TEST_P(Limits, TraceOfAFinishedProcessIsTrimmed) {
  const Scratch scratch;
  ASSERT_EQ(
      wait_for(start({scenarios(), "two_threads"}, {{"SIMRT_TRACE", scratch.file("t")}}, scratch.path())), 0);
  const auto size = std::filesystem::file_size(scratch.file("t"));
  EXPECT_EQ(size % 4096, 0u);
  EXPECT_LT(size, 400'000u);
}

}  // namespace
}  // namespace simrt::runtime_test
