#include "testing/executable_identity.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "sample_programs.h"
#include "support/files.h"

namespace simrt::testing {
namespace {

namespace fs = std::filesystem;

/// Copies of the sample program and its library, which can be rebuilt by copying over them.
class ExecutableIdentityTest : public ::testing::Test {
 protected:
  ExecutableIdentityTest() {
    fs::copy_file(sample("library_user"), root_.file("program"));
    fs::create_directory(root_.file("lib"));
    put_library(1);
    test_.command = {root_.file("program")};
    test_.environment["LD_LIBRARY_PATH"] = root_.file("lib");  // comes before the RUNPATH
  }
  void put_library(int number) {
    fs::copy_file(sample("library_" + std::to_string(number) + "/libsample.so"),
                  root_.file("lib/libsample.so"), fs::copy_options::overwrite_existing);
  }
  std::uint64_t identity() { return ExecutableIdentity({root_.path()}).of(test_).value(); }

  TemporaryDirectory root_ = TemporaryDirectory::create().value();
  TestCase test_;
};

TEST_F(ExecutableIdentityTest, SameBytesAnywhereAreTheSame) {
  const std::uint64_t before = identity();
  fs::rename(root_.file("program"), root_.file("renamed"));
  test_.command = {"./renamed"};
  test_.directory = root_.path();
  EXPECT_EQ(identity(), before);
}

TEST_F(ExecutableIdentityTest, AnotherLibraryOfTheProjectCounts) {
  const std::uint64_t before = identity();
  put_library(2);
  EXPECT_NE(identity(), before);
  put_library(1);
  EXPECT_EQ(identity(), before);
}

TEST_F(ExecutableIdentityTest, LibrariesOutsideTheRootsDoNotCount) {
  ExecutableIdentity elsewhere({root_.file("other")});
  const std::uint64_t before = elsewhere.of(test_).value();
  put_library(2);
  EXPECT_EQ(elsewhere.of(test_).value(), before);
}

TEST_F(ExecutableIdentityTest, TheCacheNoticesAReplacedFile) {
  ExecutableIdentity identities({root_.path()});
  const std::uint64_t before = identities.of(test_).value();
  EXPECT_EQ(identities.of(test_).value(), before);
  put_library(2);
  EXPECT_NE(identities.of(test_).value(), before);
}

TEST_F(ExecutableIdentityTest, ScriptsBehindAnInterpreterCount) {
  ASSERT_TRUE(write_file_atomically(root_.file("test.sh"), "exit 0"));
  test_.command = {"sh", "-e", "test.sh"};
  test_.directory = root_.path();
  const std::uint64_t before = identity();
  ASSERT_TRUE(write_file_atomically(root_.file("test.sh"), "exit 1"));
  EXPECT_NE(identity(), before);
}

TEST_F(ExecutableIdentityTest, DataArgumentsOfAnOwnProgramDoNot) {
  ASSERT_TRUE(write_file_atomically(root_.file("result.xml"), "1"));
  test_.command.push_back(root_.file("result.xml"));
  const std::uint64_t before = identity();
  ASSERT_TRUE(write_file_atomically(root_.file("result.xml"), "2"));
  EXPECT_EQ(identity(), before);
}

TEST_F(ExecutableIdentityTest, MissingProgramIsAnError) {
  test_.command = {root_.file("absent")};
  const auto result = ExecutableIdentity({root_.path()}).of(test_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Execution);
  EXPECT_FALSE(ExecutableIdentity({root_.path()}).of(TestCase{}));
}

}  // namespace
}  // namespace simrt::testing
