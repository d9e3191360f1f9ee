// The mapped trace file by itself, read back by the host's reader.
#include "emit/trace_file.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "testing/trace.h"

namespace simrt::runtime {
namespace {

using format::ThreadRecord;
using ::testing::SizeIs;

class TraceFiles : public ::testing::Test {
 protected:
  TraceFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "simrt-trace-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    path_.append((directory_ + "/t").c_str());
  }
  ~TraceFiles() override { std::filesystem::remove_all(directory_); }

  static bool add_thread(TraceFile& file, std::uint32_t index, std::size_t payload = 0) {
    auto* record = file.append<ThreadRecord>(payload);
    if (record == nullptr) return false;
    record->index = index;
    record->state = format::ThreadState::Running;
    file.publish();
    return true;
  }
  std::size_t threads_in(const std::string& path) {
    const auto trace = testing::read_trace(path);
    return trace ? trace->threads.size() : SIZE_MAX;
  }

  std::string directory_;
  Path path_;
};

TEST_F(TraceFiles, OnlyPublishedChunksAreVisible) {
  TraceFile file;
  ASSERT_TRUE(file.create(path_, 1 << 20));
  EXPECT_EQ(threads_in(path_.text), 0u);
  ASSERT_TRUE(add_thread(file, 0));
  ASSERT_NE(file.append<ThreadRecord>(1000), nullptr);  // the process dies here
  EXPECT_EQ(threads_in(path_.text), 1u);
}

TEST_F(TraceFiles, GrowsAndStopsAtTheLimit) {
  TraceFile file;
  ASSERT_TRUE(file.create(path_, 1 << 20));
  std::uint32_t count = 0;
  while (add_thread(file, count, 4000)) ++count;
  EXPECT_GT(count, 250u);
  EXPECT_LE(std::filesystem::file_size(path_.text), std::uintmax_t{1 << 20});
  EXPECT_EQ(threads_in(path_.text), count);
}

TEST_F(TraceFiles, ReserveIsKeptFree) {
  TraceFile file;
  ASSERT_TRUE(file.create(path_, 1 << 20));
  while (file.append<ThreadRecord>(4000, 512 * 1024) != nullptr) file.publish();
  EXPECT_NE(file.append<ThreadRecord>(500 * 1024), nullptr);
}

TEST_F(TraceFiles, NamesDoNotCollide) {
  TraceFile first, second, third;
  ASSERT_TRUE(first.create(path_, 1 << 20));
  ASSERT_TRUE(second.create(path_, 1 << 20));
  ASSERT_TRUE(third.create(path_, 1 << 20));
  ASSERT_TRUE(add_thread(second, 0));
  const auto files = testing::trace_files(path_.text);
  ASSERT_THAT(files, SizeIs(3));
  EXPECT_EQ(files[1], std::string(path_.text) + "." + std::to_string(getpid()));
  EXPECT_EQ(files[2], files[1] + ".1");
  EXPECT_EQ(threads_in(files[0]), 0u);
  EXPECT_EQ(threads_in(files[1]), 1u);
}

TEST_F(TraceFiles, ReplacedFileIsNotTouched) {
  TraceFile file;
  ASSERT_TRUE(file.create(path_, 64 << 20));
  std::filesystem::remove(path_.text);
  TraceFile other;
  ASSERT_TRUE(other.create(path_, 1 << 20));
  const auto size = std::filesystem::file_size(path_.text);
  std::uint32_t count = 0;
  while (count < 10000 && add_thread(file, count, 4000)) ++count;
  EXPECT_LT(count, 10000u);  // it could not grow
  file.trim();
  EXPECT_EQ(std::filesystem::file_size(path_.text), size);
}

TEST_F(TraceFiles, AbandonedMemoryStaysWritableAndPrivate) {
  TraceFile file;
  ASSERT_TRUE(file.create(path_, 1 << 20));
  auto* record = file.append<ThreadRecord>(0);
  ASSERT_NE(record, nullptr);
  record->index = 0;
  record->state = format::ThreadState::Running;
  file.publish();
  const pid_t child = fork();
  if (child == 0) {
    file.abandon();
    record->state = format::ThreadState::NotStarted;
    _exit(file.is_open() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(threads_in(path_.text), 1u);
}

TEST_F(TraceFiles, TrimKeepsAppendingPossible) {
  TraceFile file;
  ASSERT_TRUE(file.create(path_, 1 << 20));
  ASSERT_TRUE(add_thread(file, 0));
  file.trim();
  EXPECT_EQ(std::filesystem::file_size(path_.text), 4096u);
  for (std::uint32_t i = 1; i < 100; ++i) ASSERT_TRUE(add_thread(file, i, 1000));
  EXPECT_EQ(threads_in(path_.text), 100u);
}

}  // namespace
}  // namespace simrt::runtime
