#include "support/progress.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "support/log.h"

namespace simrt {
namespace {

TEST(FormatDuration, RoundsToSeconds) {
  EXPECT_EQ(format_duration(0), "0:00");
  EXPECT_EQ(format_duration(59.6), "1:00");
  EXPECT_EQ(format_duration(3723), "1:02:03");
  EXPECT_EQ(format_duration(-1), "0:00");
}

TEST(FormatProgress, ShowsBarRateTimeLeftAndName) {
  ProgressState state{.label = "tests", .done = 50, .total = 100, .elapsed_seconds = 10, .current = "a_test"};
  EXPECT_EQ(format_progress(state, 200), "tests [##########          ] 50/100  5.0/s  0:10 left  a_test");
}

TEST(FormatProgress, WorkPredictsBetterThanCounts) {
  const ProgressState state{
      .label = "t", .done = 1, .total = 100, .work_done = 30, .work_total = 40, .elapsed_seconds = 30};
  EXPECT_EQ(format_progress_line(state), "t: 1 of 100 (75 %), 0:10 left");
}

TEST(FormatProgress, NoTimeLeftBeforeTheFirstOrAfterTheLast) {
  EXPECT_EQ(format_progress_line({.label = "t", .total = 4}), "t: 0 of 4 (0 %)");
  EXPECT_EQ(format_progress_line({.label = "t", .done = 4, .total = 4, .elapsed_seconds = 3}),
            "t: 4 of 4 (100 %)");
}

TEST(FormatProgress, UnknownTotal) {
  EXPECT_EQ(format_progress({.label = "files", .done = 7}, 80), "files 7");
  EXPECT_EQ(format_progress_line({.label = "files", .done = 7}), "files: 7");
}

TEST(FormatProgress, CutsToTheWidthButNotInsideACharacter) {
  const ProgressState state{.label = "t", .done = 0, .current = "\xc3\xa4\xc3\xa4\xc3\xa4"};  // "t 0  äää"
  EXPECT_EQ(format_progress(state, 9), "t 0  \xc3\xa4");  // 8 bytes would end inside the second one
  EXPECT_EQ(format_progress(state, 0), "");
}

class ProgressTest : public testing::Test {
 protected:
  ProgressTest() : stream_(::open_memstream(&bytes_, &size_)) {}
  ~ProgressTest() override {
    log::redirect(nullptr);
    log::set_verbosity(log::Verbosity::Normal);
    std::fclose(stream_);
    std::free(bytes_);
  }
  std::string run(bool terminal) {
    log::redirect(stream_, terminal);
    Progress progress("tests", 2);
    progress.advance("a");
    progress.advance("b");
    progress.finish();
    progress.advance("late");
    std::fflush(stream_);
    return {bytes_, size_};
  }
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_ = nullptr;
};

TEST_F(ProgressTest, TerminalBarIsDrawnAtOnceAndRemoved) {
  const std::string text = run(true);
  EXPECT_THAT(text, testing::StartsWith("\r\x1b[Ktests ["));
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("late")));
}

TEST_F(ProgressTest, ShortWorkPrintsNothingOutsideATerminal) { EXPECT_EQ(run(false), ""); }

TEST_F(ProgressTest, QuietIsSilentOnATerminalToo) {
  log::set_verbosity(log::Verbosity::Quiet);
  EXPECT_EQ(run(true), "");
}

}  // namespace
}  // namespace simrt
