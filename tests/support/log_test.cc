#include "support/log.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

namespace simrt {
namespace {

/// Sends the log to memory for the time of one test.
class LogTest : public testing::Test {
 protected:
  LogTest() : stream_(::open_memstream(&bytes_, &size_)) { log::redirect(stream_); }
  ~LogTest() override {
    log::redirect(nullptr);
    log::set_verbosity(log::Verbosity::Normal);
    std::fclose(stream_);
    std::free(bytes_);
  }
  std::string text() const {
    std::fflush(stream_);
    return {bytes_, size_};
  }

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_ = nullptr;
};

TEST_F(LogTest, ErrorsCarryTheirHintIndented) {
  log::error(Error{ErrorCode::History, "the database is locked", "wait for the other process"});
  EXPECT_EQ(text(), "error: the database is locked\n  hint: wait for the other process\n");
}

TEST_F(LogTest, ErrorWithoutHintIsOneLine) {
  log::error(Error{ErrorCode::Usage, "no", ""});
  EXPECT_EQ(text(), "error: no\n");
}

TEST_F(LogTest, FormatsAndIndentsFollowingLines) {
  log::warning("{} files\nskipped\n", 3);
  log::info("done");
  EXPECT_EQ(text(), "warning: 3 files\n  skipped\ndone\n");
}

TEST_F(LogTest, VerbosityDecides) {
  log::detail("hidden");
  log::set_verbosity(log::Verbosity::Quiet);
  log::info("hidden");
  log::warning("hidden");
  log::error(Error{ErrorCode::Usage, "shown", ""});
  log::set_verbosity(log::Verbosity::Verbose);
  log::detail("detail {}", 1);
  EXPECT_EQ(text(), "error: shown\ndetail 1\n");
}

TEST_F(LogTest, BracesInAMessageAreNoFormat) {
  log::write(log::Level::Warning, "{}");
  EXPECT_EQ(text(), "warning: {}\n");
}

TEST_F(LogTest, StatusLineStaysBelowMessagesOnATerminal) {
  log::redirect(stream_, true);
  log::set_status_line("1/2");
  log::info("hello");
  log::set_status_line("");
  EXPECT_EQ(text(), "\r\x1b[K1/2\r\x1b[Khello\n1/2\r\x1b[K");
}

TEST_F(LogTest, NoStatusLineOutsideATerminal) {
  log::set_status_line("1/2");
  log::info("hello");
  EXPECT_EQ(text(), "hello\n");
}

}  // namespace
}  // namespace simrt
