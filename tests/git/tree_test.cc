// The files of a revision and of the work tree, without a checkout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "fixture.h"
#include "git/repository.h"

namespace simrt::git {
namespace {

using ::testing::ElementsAre;

struct TreeTest : ::testing::Test {
  TempDirectory temp;
  GitFixture fixture{temp.path() / "project"};

  std::shared_ptr<const SourceTree> tree(std::string_view revision) const {
    const auto result = Repository::open(fixture.path())->tree(revision);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
};

TEST_F(TreeTest, ReadsFilesOfAnyRevisionWithoutACheckout) {
  fixture.write("src/a.cc", "old\n");
  fixture.write("src/gone.h", "gone\n");
  const std::string base = fixture.commit("base");
  fixture.write("src/a.cc", "newer\n");
  fixture.git({"rm", "-q", "src/gone.h"});
  const std::string head = fixture.commit("head");
  const auto old_tree = tree(base);
  EXPECT_EQ(old_tree->identity(), base);
  EXPECT_THAT(old_tree->files(), ElementsAre("src/a.cc", "src/gone.h"));
  EXPECT_EQ(old_tree->read("src/a.cc"), "old\n");
  EXPECT_EQ(old_tree->find("src/a.cc")->size, 4u);
  EXPECT_EQ(old_tree->find("src/a.cc")->id, fixture.git({"rev-parse", base + ":src/a.cc"}));
  EXPECT_EQ(old_tree->find("src")->kind, TreeEntry::Kind::Directory);
  EXPECT_EQ(old_tree->find("")->kind, TreeEntry::Kind::Directory);
  EXPECT_EQ(tree(head)->read("src/gone.h"), std::nullopt);
  EXPECT_EQ(tree(head)->read("src"), std::nullopt);
  EXPECT_EQ(tree(head)->find("src/a"), std::nullopt);
  const auto listed = old_tree->list("src");
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].first, "a.cc");
  EXPECT_EQ(listed[1].first, "gone.h");
  EXPECT_TRUE(old_tree->list("nowhere").empty());
}

TEST_F(TreeTest, SymlinksAreGivenAsLinks) {
  fixture.write("real/x.h", "x\n");
  std::filesystem::create_symlink("real", fixture.path("alias"));
  fixture.commit("base");
  for (const std::string_view revision : {std::string_view("HEAD"), kWorkTree}) {
    const auto files = tree(revision);
    EXPECT_EQ(files->find("alias")->kind, TreeEntry::Kind::Symlink) << revision;
    EXPECT_EQ(files->read("alias"), "real") << revision;
    EXPECT_EQ(files->find("alias/x.h"), std::nullopt) << "not followed";
  }
}

TEST_F(TreeTest, WorkTreeHasWhatIsOnTheDisk) {
  fixture.write(".gitignore", "*.o\n");
  fixture.write("a.cc", "a\n");
  fixture.write("deleted.cc", "d\n");
  fixture.commit("base");
  fixture.write("a.cc", "changed\n");
  fixture.write("new/untracked.h", "u\n");
  fixture.write("ignored.o", "o");
  std::filesystem::remove(fixture.path("deleted.cc"));
  const auto files = tree(kWorkTree);
  EXPECT_EQ(files->identity(), "worktree");
  EXPECT_THAT(files->files(), ElementsAre(".gitignore", "a.cc", "new/untracked.h"));
  EXPECT_EQ(files->read("a.cc"), "changed\n");
  EXPECT_EQ(files->find("a.cc")->id, fixture.git({"hash-object", "a.cc"}));
  fixture.write("a.cc", "edited while the analysis runs\n");
  EXPECT_EQ(files->read("a.cc"), "changed\n") << "one analysis sees one version";
}

TEST_F(TreeTest, WorkTreeFilesAreEqualToTheirBlobsDespiteLineEnds) {
  fixture.write(".gitattributes", "*.cc text eol=crlf\n*.bin -text\n");
  fixture.write("a.cc", "one\r\ntwo\r\n");
  fixture.write("b.bin", "one\r\n");
  fixture.commit("base");
  EXPECT_EQ(tree(kWorkTree)->read("a.cc"), tree("HEAD")->read("a.cc"));
  EXPECT_EQ(tree(kWorkTree)->read("a.cc"), "one\ntwo\n");
  EXPECT_EQ(tree(kWorkTree)->read("b.bin"), "one\r\n");
}

TEST_F(TreeTest, SubmodulesAppearAtTheirRecordedCommit) {
  GitFixture inner(temp.path() / "inner");
  inner.write("lib.h", "old\n");
  inner.commit("inner base");
  fixture.commit("start");
  fixture.git({"submodule", "add", "-q", inner.path().string(), "deps/inner"});
  const std::string base = fixture.commit("base");
  inner.write("lib.h", "new\n");
  inner.commit("inner head");
  run_git(fixture.path("deps/inner"), {"pull", "-q", "origin", "main"});
  fixture.write("deps/inner/extra.h", "untracked\n");
  EXPECT_EQ(tree(base)->read("deps/inner/lib.h"), "old\n");
  EXPECT_EQ(tree(kWorkTree)->read("deps/inner/lib.h"), "new\n");
  EXPECT_EQ(tree(kWorkTree)->read("deps/inner/extra.h"), "untracked\n");
  fixture.git({"submodule", "deinit", "-q", "-f", "deps/inner"});
  EXPECT_EQ(tree(base)->read("deps/inner/lib.h"), "old\n") << "from .git/modules";
  std::filesystem::remove_all(fixture.path(".git/modules"));
  EXPECT_EQ(tree(base)->read("deps/inner/lib.h"), std::nullopt);
  EXPECT_EQ(tree(base)->find("deps/inner")->kind, TreeEntry::Kind::Directory);
}

TEST_F(TreeTest, MissingTreeObjectIsAnError) {
  fixture.write("d/f", "x\n");
  fixture.commit("base");
  const std::string id = fixture.git({"rev-parse", "HEAD:d"});
  std::filesystem::remove(fixture.path(".git/objects") / id.substr(0, 2) / id.substr(2));
  const auto result = Repository::open(fixture.path())->tree("HEAD");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Repository);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("directory d"));
}

TEST_F(TreeTest, ManyThreadsReadAtOnce) {
  for (int i = 0; i < 200; ++i) fixture.write("f" + std::to_string(i), "content " + std::to_string(i));
  fixture.commit("base");
  fixture.git({"gc", "-q"});  // packed: the harder case
  for (const std::string_view revision : {std::string_view("HEAD"), kWorkTree}) {
    const auto files = tree(revision);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          if (files->read("f" + std::to_string(i)) != "content " + std::to_string(i)) ++wrong;
          if (files->find("f" + std::to_string(i))->size != 8 + std::to_string(i).size()) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << revision;
  }
}

}  // namespace
}  // namespace simrt::git
