#include "history/command_store.h"

#include <gtest/gtest.h>

#include "history/merge.h"
#include "history/prune.h"
#include "sample.h"

namespace simrt::history {
namespace {

const StoredCommand kA{"a.cc", 7, "<build>", {"c++", "-DX=a b", "", "<source>/a.cc"}};
const StoredCommand kB{"b.cc", 1ULL << 63U, "<build>", {"cc", "<source>/b.cc"}};

TEST(CommandStore, GivesBackWhatWasPutAndReplaces) {
  TempDir dir;
  Database database = create(dir.file());
  const RevisionId one = begin(database, "one"), two = begin(database, "two");
  EXPECT_TRUE(ok(revision_commands(database, one)).empty());
  ASSERT_TRUE(put_commands(database, one, {kB, kA}));
  ASSERT_TRUE(put_commands(database, two, {kB}));
  EXPECT_EQ(ok(revision_commands(database, one)), (std::vector{kA, kB}));
  ASSERT_TRUE(put_commands(database, one, {kA}));
  EXPECT_EQ(ok(revision_commands(database, one)), (std::vector{kA}));
  EXPECT_EQ(ok(revision_commands(database, two)), (std::vector{kB}));
}

TEST(CommandStore, MergingKeepsTheCommandsOfBoth) {
  TempDir dir;
  {
    Database source = create(dir.file("source.db"));
    ASSERT_TRUE(put_commands(source, begin(source, "shared"), {kA, kB}));
    ASSERT_TRUE(put_commands(source, begin(source, "only-source"), {kB}));
  }
  Database target = create(dir.file("target.db"));
  const RevisionId shared = begin(target, "shared");
  ASSERT_TRUE(put_commands(target, shared, {kA}));
  for (int times = 0; times < 2; ++times) {
    ok(merge(target, dir.file("source.db")));
    EXPECT_EQ(ok(revision_commands(target, shared)), (std::vector{kA, kB}));
    const auto other = ok(find_revision(target, "only-source", "env"));
    ASSERT_TRUE(other);
    EXPECT_EQ(ok(revision_commands(target, other->id)), (std::vector{kB}));
  }
}

TEST(CommandStore, PruningDropsWhatNoRevisionNames) {
  TempDir dir;
  Database database = create(dir.file());
  ASSERT_TRUE(put_commands(database, begin(database, "old", 10), {kA}));
  const RevisionId young = begin(database, "young", 20);
  ASSERT_TRUE(put_commands(database, young, {kB}));
  PruneOptions options;
  options.keep_revisions = 1;
  EXPECT_EQ(ok(prune(database, options)).revisions, 1U);
  EXPECT_EQ(ok(revision_commands(database, young)), (std::vector{kB}));
  ASSERT_TRUE(put_commands(database, young, {}));
  ok(prune(database, options));
  EXPECT_TRUE(ok(revision_commands(database, young)).empty());
}

}  // namespace
}  // namespace simrt::history
