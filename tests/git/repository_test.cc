// Opening, naming revisions, ancestry; on repositories in every state users have them.
#include "git/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "fixture.h"
#include "library_leaks.h"

namespace simrt::git {
namespace {

using ::testing::HasSubstr;

std::pair<std::string, std::uint32_t> nearest(const Repository& repository, std::string_view revision,
                                              const std::set<std::string>& candidates) {
  const auto found = repository.nearest_ancestor(revision, candidates);
  if (!found || !*found) return {"none", 0};
  return {(*found)->commit, (*found)->distance};
}

struct RepositoryTest : ::testing::Test {
  TempDirectory temp;
  GitFixture fixture{temp.path() / "project"};

  Repository open() const {
    auto repository = Repository::open(fixture.path());
    EXPECT_TRUE(repository) << repository.error().message;
    return *repository;
  }
};

TEST_F(RepositoryTest, OpensFromAnySubDirectory) {
  fixture.write("a/b/c.txt", "x");
  const auto repository = Repository::open(fixture.path("a/b"));
  ASSERT_TRUE(repository);
  EXPECT_EQ(repository->workdir(), fixture.path().string());
}

TEST_F(RepositoryTest, NoRepositoryIsAClearError) {
  const auto repository = Repository::open(temp.path());
  ASSERT_FALSE(repository);
  EXPECT_EQ(repository.error().code, ErrorCode::Repository);
  EXPECT_THAT(repository.error().message, HasSubstr("not inside a git repository"));
  EXPECT_FALSE(repository.error().hint.empty());
}

TEST_F(RepositoryTest, ForeignOwnerNamesSafeDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(chown(fixture.path().c_str(), 12345, 12345), 0);
  ASSERT_EQ(chown(fixture.path(".git").c_str(), 12345, 12345), 0);
  const auto repository = Repository::open(fixture.path());
  ASSERT_FALSE(repository);
  EXPECT_THAT(repository.error().hint, HasSubstr("safe.directory " + fixture.path().string()));
}

TEST_F(RepositoryTest, UnbornHeadSaysThatNothingIsCommitted) {
  const auto id = open().resolve("HEAD");
  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message, HasSubstr("no commit yet"));
}

TEST_F(RepositoryTest, ResolvesWhatGitResolves) {
  const std::string first = fixture.commit("first\n\nbody");
  const std::string second = fixture.commit("second");
  fixture.git({"tag", "-a", "-m", "annotated", "v1", first});
  const Repository repository = open();
  EXPECT_EQ(repository.resolve("HEAD").value(), second);
  EXPECT_EQ(repository.resolve("main~1").value(), first);
  EXPECT_EQ(repository.resolve("v1").value(), first);
  EXPECT_EQ(repository.resolve(first.substr(0, 10)).value(), first);
  EXPECT_EQ(repository.resolve(kWorkTree).value(), "WORKTREE");
  EXPECT_EQ(repository.summary("v1").value(), "first");
  fixture.git({"checkout", "-q", "--detach", first});
  EXPECT_EQ(open().resolve("HEAD").value(), first);
}

TEST_F(RepositoryTest, BadRevisionsAreNamed) {
  fixture.write("f", "x");
  fixture.commit("first");
  const Repository repository = open();
  EXPECT_THAT(repository.resolve("nosuch").error().message, HasSubstr("unknown revision 'nosuch'"));
  EXPECT_THAT(repository.resolve("HEAD:f").error().message, HasSubstr("does not name a commit"));
  EXPECT_THAT(repository.resolve("").error().message, HasSubstr("is not a revision"));
  EXPECT_THAT(repository.resolve(std::string(40, '1')).error().message, HasSubstr("unknown revision"));
  EXPECT_FALSE(repository.resolve("HEAD..HEAD"));
}

TEST_F(RepositoryTest, DamagedObjectPointsToFsck) {
  const std::string id = fixture.commit("first");
  const auto object = fixture.path(".git/objects") / id.substr(0, 2) / id.substr(2);
  std::filesystem::permissions(object, std::filesystem::perms::owner_all);
  std::ofstream(object, std::ios::binary | std::ios::trunc) << "garbage";
  const LibraryLeaks reference;
  const auto resolved = open().resolve("HEAD");
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().hint, HasSubstr("git fsck"));
}

TEST_F(RepositoryTest, TheNearestAncestorIsFoundOverTheShorterWay) {
  const std::string root = fixture.commit("root");
  fixture.git({"checkout", "-q", "-b", "side"});
  const std::string side = fixture.commit("side");
  fixture.git({"checkout", "-q", "main"});
  const std::string left = fixture.commit("left");
  const std::string left2 = fixture.commit("left2");
  fixture.git({"merge", "-q", "--no-ff", "-m", "merge", "side"});
  const Repository repository = open();
  const std::string merge = repository.resolve("HEAD").value();
  EXPECT_EQ(nearest(repository, "HEAD", {merge, side, root}), std::pair(merge, 0u));
  EXPECT_EQ(nearest(repository, "HEAD", {left, side}), std::pair(side, 1u));
  EXPECT_EQ(nearest(repository, "HEAD", {left, root}), std::pair(left, 2u)) << "root is as near, but older";
  EXPECT_EQ(nearest(repository, kWorkTree, {left}), std::pair(left, 2u));
  EXPECT_EQ(repository.nearest_ancestor("side", {left2}).value(), std::nullopt);
  EXPECT_EQ(repository.nearest_ancestor("HEAD", {}).value(), std::nullopt);

  EXPECT_EQ(repository.merge_base("side", left2).value(), root);
  EXPECT_TRUE(repository.is_ancestor(side, "HEAD").value());
  EXPECT_TRUE(repository.is_ancestor("HEAD", "HEAD").value());
  EXPECT_FALSE(repository.is_ancestor("HEAD", side).value());
}

TEST_F(RepositoryTest, ClockSkewDoesNotHideAnAncestor) {
  const std::string root = fixture.commit("root");
  run_git(fixture.path(), {"commit", "-q", "--allow-empty", "-m", "from the past"}, "1000000000 +0000");
  const std::string old_clock = fixture.git({"rev-parse", "HEAD"});
  fixture.commit("tip");
  EXPECT_EQ(nearest(open(), "HEAD", {root, old_clock}), std::pair(old_clock, 1u));
  EXPECT_EQ(nearest(open(), "HEAD", {root}), std::pair(root, 2u));
}

TEST_F(RepositoryTest, UnrelatedHistoriesHaveNoMergeBase) {
  const std::string first = fixture.commit("first");
  fixture.git({"checkout", "-q", "--orphan", "other"});
  const std::string other = fixture.commit("other");
  EXPECT_EQ(open().merge_base(first, other).value(), std::nullopt);
}

TEST_F(RepositoryTest, ShallowCloneWorksUpToItsBoundary) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    fixture.write("f", std::to_string(i));
    ids.push_back(fixture.commit("c" + std::to_string(i)));
  }
  run_git(temp.path(), {"clone", "-q", "--depth=3", "file://" + fixture.path().string(), "shallow"});
  const auto repository = Repository::open(temp.path() / "shallow");
  ASSERT_TRUE(repository);
  EXPECT_TRUE(repository->is_shallow());
  EXPECT_FALSE(open().is_shallow());
  const auto missing = repository->resolve(ids[0]);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("shallow clone"));
  EXPECT_THAT(missing.error().hint, HasSubstr("--unshallow"));
  EXPECT_EQ(nearest(*repository, "HEAD", {ids[2]}), std::pair(ids[2], 2u));
  EXPECT_EQ(repository->nearest_ancestor("HEAD", {ids[0]}).value(), std::nullopt);
  EXPECT_EQ(repository->merge_base("HEAD", ids[2]).value(), ids[2]);
  EXPECT_TRUE(repository->is_ancestor(ids[2], "HEAD").value());
  EXPECT_FALSE(repository->is_ancestor("HEAD", ids[2]).value());
  EXPECT_EQ(repository->diff(ids[2], "HEAD")->size(), 1u);
}

TEST_F(RepositoryTest, BareRepositoryHasNoWorkTree) {
  fixture.write("f", "x");
  fixture.commit("first");
  run_git(temp.path(), {"clone", "-q", "--bare", "project", "bare"});
  const auto repository = Repository::open(temp.path() / "bare");
  ASSERT_TRUE(repository);
  EXPECT_EQ(repository->workdir(), "");
  EXPECT_EQ(repository->resolve(kWorkTree).error().code, ErrorCode::Repository);
  EXPECT_FALSE(repository->diff("HEAD", kWorkTree));
  EXPECT_FALSE(repository->tree(kWorkTree));
  EXPECT_EQ((*repository->tree("HEAD"))->read("f"), "x");
}

TEST_F(RepositoryTest, LinkedWorkTreeIsARepositoryOfItsOwn) {
  fixture.write("f", "x");
  fixture.commit("first");
  fixture.git({"worktree", "add", "-q", "../linked", "-b", "topic"});
  const auto repository = Repository::open(temp.path() / "linked");
  ASSERT_TRUE(repository);
  EXPECT_EQ(repository->workdir(), (temp.path() / "linked").string());
  std::ofstream(temp.path() / "linked" / "f") << "y";
  EXPECT_EQ((*repository->tree(kWorkTree))->read("f"), "y");
  EXPECT_EQ((*repository->tree("HEAD"))->read("f"), "x");
  EXPECT_EQ((*open().tree(kWorkTree))->read("f"), "x");
}

}  // namespace
}  // namespace simrt::git
