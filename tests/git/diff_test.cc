// Which files a change touches, and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fixture.h"
#include "git/repository.h"
#include "library_leaks.h"

namespace simrt::git {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

// "M:path", "R:old>new", with the hunks as -old,count+new,count.
std::vector<std::string> describe(const std::vector<FileChange>& changes) {
  std::vector<std::string> lines;
  for (const FileChange& change : changes) {
    std::string line(1, "ADMRT"[static_cast<int>(change.status)]);
    line += ":" + change.old_path;
    if (change.new_path != change.old_path) line += ">" + change.new_path;
    for (const Hunk& hunk : change.hunks) {
      line += " -" + std::to_string(hunk.old_line) + "," + std::to_string(hunk.old_count) + "+" +
              std::to_string(hunk.new_line) + "," + std::to_string(hunk.new_count);
    }
    lines.push_back(line);
  }
  return lines;
}

struct DiffTest : ::testing::Test {
  TempDirectory temp;
  GitFixture fixture{temp.path() / "project"};

  std::vector<std::string> diff(std::string_view base, std::string_view head) const {
    const auto changes = Repository::open(fixture.path())->diff(base, head);
    EXPECT_TRUE(changes) << changes.error().message;
    return describe(*changes);
  }
};

TEST_F(DiffTest, CommitsWithEveryKindOfChange) {
  fixture.write("modified.cc", kText);
  fixture.write("deleted.cc", "gone\n");
  fixture.write("old_name.cc", kText);
  fixture.write("script.sh", "#!/bin/sh\n");
  fixture.write("becomes_link", "plain\n");
  fixture.write("data.bin", std::string("\0\1\2", 3));
  const std::string base = fixture.commit("base");
  fixture.write("modified.cc", "zero\none\ntwo\nthree\nfour\nfive\nsix\nSEVEN\neight\n");
  fixture.write("added.cc", "new\nfile\n");
  fixture.git({"rm", "-q", "deleted.cc"});
  fixture.git({"mv", "old_name.cc", "dir.cc"});
  fixture.write("dir.cc", std::string(kText) + "nine\n");
  std::filesystem::permissions(fixture.path("script.sh"), std::filesystem::perms::owner_all);
  std::filesystem::remove(fixture.path("becomes_link"));
  std::filesystem::create_symlink("added.cc", fixture.path("becomes_link"));
  fixture.write("data.bin", std::string("\0\1\3", 3));
  const std::string head = fixture.commit("head");
  const std::vector<std::string> expected{"A:>added.cc -0,0+1,2",
                                          "T:becomes_link -1,1+0,0",
                                          "M:data.bin",
                                          "D:deleted.cc> -1,1+0,0",
                                          "R:old_name.cc>dir.cc -8,0+9,1",
                                          "M:modified.cc -0,0+1,1 -7,1+8,1",
                                          "M:script.sh"};
  auto actual = diff(base, head);
  ASSERT_EQ(actual.size(), expected.size());
  actual[1] =
      actual[1].substr(0, 14) + " -1,1+0,0";  // how a type change is cut into hunks is libgit2's affair
  EXPECT_EQ(actual, expected);
  EXPECT_TRUE(diff(head, head).empty());
}

TEST_F(DiffTest, WorkTreeCountsStagedUnstagedUntrackedAndDeletedFiles) {
  fixture.write(".gitignore", "*.o\nbuild/\n");
  fixture.write("staged.cc", "a\n");
  fixture.write("unstaged.cc", "a\n");
  fixture.write("deleted.cc", "only here, and long enough\nto be recognised\n");
  fixture.write("moved.cc", kText);
  const std::string base = fixture.commit("base");
  EXPECT_TRUE(diff("HEAD", kWorkTree).empty());
  fixture.write("staged.cc", "b\n");
  fixture.git({"add", "staged.cc"});
  fixture.write("unstaged.cc", "b\n");
  std::filesystem::remove(fixture.path("deleted.cc"));
  std::filesystem::rename(fixture.path("moved.cc"), fixture.path("renamed.cc"));
  fixture.write("new/untracked.cc", "u\n");
  fixture.write("ignored.o", "o");
  fixture.write("build/generated.cc", "g\n");
  const std::vector<std::string> expected{"D:deleted.cc> -1,2+0,0", "A:>new/untracked.cc -0,0+1,1",
                                          "R:moved.cc>renamed.cc", "M:staged.cc -1,1+1,1",
                                          "M:unstaged.cc -1,1+1,1"};
  EXPECT_EQ(diff(base, kWorkTree), expected);
}

TEST_F(DiffTest, LineEndConversionIsNoChange) {
  fixture.write(".gitattributes", "*.cc text eol=crlf\n");
  fixture.write("a.cc", "one\r\ntwo\r\n");
  fixture.commit("base");
  std::filesystem::last_write_time(fixture.path("a.cc"), std::filesystem::file_time_type::clock::now());
  EXPECT_TRUE(diff("HEAD", kWorkTree).empty());
  fixture.write("a.cc", "one\r\nTWO\r\n");
  EXPECT_EQ(diff("HEAD", kWorkTree), std::vector<std::string>{"M:a.cc -2,1+2,1"});
}

TEST_F(DiffTest, SubmoduleIsShownFromInside) {
  const LibraryLeaks expression;  // of the submodules' configuration
  GitFixture inner(temp.path() / "inner");
  inner.write("lib.h", "int f();\n");
  const std::string old_inner = inner.commit("inner base");
  fixture.write("main.cc", "int main() {}\n");
  fixture.commit("start");
  fixture.git({"submodule", "add", "-q", inner.path().string(), "third_party/inner"});
  const std::string base = fixture.commit("base");
  inner.write("lib.h", "int f(int);\n");
  const std::string new_inner = inner.commit("inner head");
  run_git(fixture.path("third_party/inner"), {"pull", "-q", "origin", "main"});
  EXPECT_EQ(diff(base, kWorkTree), std::vector<std::string>{"M:third_party/inner/lib.h -1,1+1,1"});
  const std::string head = fixture.commit("head");
  EXPECT_EQ(diff(base, head), std::vector<std::string>{"M:third_party/inner/lib.h -1,1+1,1"});
  const std::vector<std::string> added{"M:.gitmodules", "A:>third_party/inner/lib.h"};
  const auto whole = diff("HEAD~2", head);
  ASSERT_EQ(whole.size(), 2u);
  EXPECT_EQ(whole[1], "A:>third_party/inner/lib.h");

  run_git(temp.path(), {"clone", "-q", "project", "without"});  // submodule not fetched
  const auto changes = Repository::open(temp.path() / "without")->diff(base, head);
  ASSERT_TRUE(changes);
  EXPECT_EQ(describe(*changes), std::vector<std::string>{"M:third_party/inner"});
}

TEST_F(DiffTest, ForeignRepositoryInsideIsNotPartOfTheProject) {
  fixture.write("a.cc", "a\n");
  fixture.commit("base");
  GitFixture foreign(fixture.path("checkout"));
  foreign.write("b.cc", "b\n");
  foreign.commit("foreign");
  EXPECT_TRUE(diff("HEAD", kWorkTree).empty());
}

// What a build makes is no change, whether git was told to ignore it or not.
TEST_F(DiffTest, WorkTreeLeavesOutUntrackedBuildTrees) {
  fixture.write("a.cc", "a\n");
  fixture.write("tracked/CMakeCache.txt", "kept\n");
  fixture.write("tracked/a.cc", "a\n");
  fixture.commit("base");
  fixture.write("build-simrt/CMakeCache.txt", "c\n");
  fixture.write("build-simrt/CMakeFiles/x/probe.cc", "p\n");
  fixture.write("sub/out/meson-private/coredata.dat", "m\n");
  fixture.write("sub/out/generated.cc", "g\n");
  fixture.write(".simrt/history.db", "h\n");
  fixture.write("sub/.simrt/cache/x", "h\n");
  EXPECT_TRUE(diff("HEAD", kWorkTree).empty());
  fixture.write("sub/new.cc", "n\n");
  fixture.write("builder/new.cc", "n\n");
  fixture.write("tracked/a.cc", "changed\n");
  EXPECT_EQ(diff("HEAD", kWorkTree),
            (std::vector<std::string>{"A:>builder/new.cc -0,0+1,1", "A:>sub/new.cc -0,0+1,1",
                                      "M:tracked/a.cc -1,1+1,1"}));
  fixture.write("CMakeCache.txt", "built where the sources are\n");
  EXPECT_EQ(diff("HEAD", kWorkTree).size(), 4U);
}

TEST_F(DiffTest, WorkTreeIsNoBase) {
  fixture.commit("base");
  const auto changes = Repository::open(fixture.path())->diff(kWorkTree, "HEAD");
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code, ErrorCode::Usage);
}

}  // namespace
}  // namespace simrt::git
