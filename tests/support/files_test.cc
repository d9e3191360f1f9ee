#include "support/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace simrt {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  TemporaryDirectory directory_ = TemporaryDirectory::create("files_test").value();
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      names.push_back(entry.path().filename());
    return names;
  }
};

TEST_F(FilesTest, WritesAndReadsAnyBytes) {
  const std::string bytes("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_file_atomically(directory_.file("x"), bytes));
  EXPECT_EQ(read_file(directory_.file("x")).value(), bytes);
  EXPECT_THAT(entries(), testing::ElementsAre("x"));  // no temporary file is left
}

TEST_F(FilesTest, ReplacesContentAndKeepsTheMode) {
  const std::string path = directory_.file("script");
  ASSERT_TRUE(write_file_atomically(path, "long old content"));
  ASSERT_EQ(::chmod(path.c_str(), 0751), 0);
  ASSERT_TRUE(write_file_atomically(path, "new"));
  EXPECT_EQ(read_file(path).value(), "new");
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0751U);
}

TEST_F(FilesTest, NewFilesHonourTheUmask) {
  const mode_t previous = ::umask(027);
  const Status written = write_file_atomically(directory_.file("x"), "");
  ::umask(previous);
  ASSERT_TRUE(written);
  struct stat status = {};
  ASSERT_EQ(::stat(directory_.file("x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(FilesTest, WritesThroughASymbolicLink) {
  ASSERT_TRUE(write_file_atomically(directory_.file("target"), "old"));
  fs::create_symlink("target", directory_.file("link"));
  ASSERT_TRUE(write_file_atomically(directory_.file("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(directory_.file("link")));
  EXPECT_EQ(read_file(directory_.file("target")).value(), "new");
}

TEST_F(FilesTest, ReadsFilesWithoutASize) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_THAT(*status, testing::HasSubstr("Pid:"));
}

TEST_F(FilesTest, MissingFileIsAStorageErrorThatNamesIt) {
  const auto result = read_file(directory_.file("absent"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Storage);
  EXPECT_THAT(result.error().message, testing::HasSubstr("absent: No such file"));
  EXPECT_EQ(read_file(directory_.path()).error().code, ErrorCode::Storage);  // a directory
}

TEST_F(FilesTest, WriteIntoAMissingDirectoryFails) {
  const Status result = write_file_atomically(directory_.file("no/such/file"), "x");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Storage);
}

TEST_F(FilesTest, FullDiskIsAStorageErrorAndKeepsTheOldFile) {
  // A file size limit makes write(2) fail part way, as a full disk does.
  ASSERT_TRUE(write_file_atomically(directory_.file("x"), "old"));
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status result = write_file_atomically(directory_.file("x"), std::string(100'000, 'y'));
    ::_exit(!result && result.error().code == ErrorCode::Storage ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(directory_.file("x")).value(), "old");
  EXPECT_THAT(entries(), testing::ElementsAre("x"));
}

TEST_F(FilesTest, MakesAndRemovesTrees) {
  const std::string deep = directory_.file("a/b/c");
  ASSERT_TRUE(make_directories(deep));
  ASSERT_TRUE(make_directories(deep));
  EXPECT_TRUE(is_directory(deep));
  ASSERT_TRUE(write_file_atomically(deep + "/f", ""));
  EXPECT_TRUE(is_file(deep + "/f"));
  EXPECT_FALSE(make_directories(deep + "/f"));
  EXPECT_FALSE(make_directories(deep + "/f/g"));
  ASSERT_TRUE(remove_tree(directory_.file("a")));
  ASSERT_TRUE(remove_tree(directory_.file("a")));
  EXPECT_FALSE(is_directory(directory_.file("a")));
}

TEST_F(FilesTest, ReadStopsBehindAsManyBytesAsAreWanted) {
  const std::string path = directory_.path() + "/file", text(100'000, 'x');
  ASSERT_TRUE(write_file_atomically(path, text));
  EXPECT_EQ(read_file(path, 0).value().size(), 0U);
  EXPECT_EQ(read_file(path, 70'001).value().size(), 70'001U);
  EXPECT_EQ(read_file(path, 1'000'000).value(), text);
}

TEST_F(FilesTest, TemporaryDirectoryGoesWithItsOwner) {
  std::string path;
  {
    TemporaryDirectory first = TemporaryDirectory::create("x", directory_.path()).value();
    path = first.path();
    ASSERT_TRUE(write_file_atomically(first.file("f"), "x"));
    const TemporaryDirectory second = std::move(first);
    EXPECT_TRUE(is_directory(second.path()));
  }
  EXPECT_FALSE(is_directory(path));
  EXPECT_FALSE(TemporaryDirectory::create("x", directory_.file("absent")));
}

TEST(PathTest, AbsolutePath) {
  EXPECT_EQ(absolute_path("a/../b/", "/r"), "/r/b");
  EXPECT_EQ(absolute_path("/x/./y", "/r"), "/x/y");
  EXPECT_EQ(absolute_path("", "/r"), "/r");
  EXPECT_EQ(absolute_path("..", "/"), "/");
}

TEST(PathTest, RelativeTo) {
  EXPECT_EQ(relative_to("/r/a/b.cc", "/r"), "a/b.cc");
  EXPECT_EQ(relative_to("/r/a/../b.cc", "/r/"), "b.cc");
  EXPECT_EQ(relative_to("/r", "/r"), "");
  EXPECT_EQ(relative_to("/root2/a", "/root"), std::nullopt);
  EXPECT_EQ(relative_to("/r/../x", "/r"), std::nullopt);
  EXPECT_EQ(relative_to("/x/y", "/"), "x/y");
}

TEST_F(FilesTest, CanonicalPathResolvesLinksAndKeepsWhatIsMissing) {
  const std::string root = canonical_path(directory_.path());
  ASSERT_TRUE(make_directories(directory_.file("real")));
  fs::create_directory_symlink("real", directory_.file("link"));
  EXPECT_EQ(canonical_path(directory_.file("link/x/../y")), root + "/real/y");
  EXPECT_EQ(canonical_path(directory_.file("link/")), root + "/real");
}

}  // namespace
}  // namespace simrt
