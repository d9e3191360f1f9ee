#include "config/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace simrt::config {
namespace {

TEST(Glob, PatternWithoutSlashMatchesTheNameAtAnyDepth) {
  EXPECT_TRUE(glob_match("*.md", "README.md"));
  EXPECT_TRUE(glob_match("*.md", "a/b/c.md"));
  EXPECT_TRUE(glob_match("CMakeLists.txt", "src/CMakeLists.txt"));
  EXPECT_FALSE(glob_match("*.md", "a.md/b.txt"));
  EXPECT_FALSE(glob_match("CMakeLists.txt", "src/MyCMakeLists.txt"));
}

TEST(Glob, StarStaysInOneComponent) {
  EXPECT_TRUE(glob_match("src/*.cc", "src/a.cc"));
  EXPECT_FALSE(glob_match("src/*.cc", "src/a/b.cc"));
  EXPECT_FALSE(glob_match("src/*.cc", "x/src/a.cc"));
  EXPECT_TRUE(glob_match("src/?/[a-c].cc", "src/x/b.cc"));
  EXPECT_FALSE(glob_match("src/?/[!a-c].cc", "src/x/b.cc"));
}

TEST(Glob, TwoStarsCrossDirectories) {
  EXPECT_TRUE(glob_match("docs/**", "docs/a"));
  EXPECT_TRUE(glob_match("docs/**", "docs/a/b/c"));
  EXPECT_FALSE(glob_match("docs/**", "docs"));
  EXPECT_FALSE(glob_match("docs/**", "x/docs/a"));
  EXPECT_TRUE(glob_match("**/testdata/**", "testdata/a"));
  EXPECT_TRUE(glob_match("**/testdata/**", "x/y/testdata/z/a"));
  EXPECT_TRUE(glob_match("a/**/b", "a/b"));
  EXPECT_TRUE(glob_match("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(glob_match("a/**/b", "a/x/y/bb"));
  EXPECT_TRUE(glob_match("**", "a"));
  EXPECT_TRUE(glob_match("**", "a/b"));
}

TEST(Glob, SlashAtTheEndsAnchorsAndDescends) {
  EXPECT_TRUE(glob_match("third_party/", "third_party/a/b.cc"));
  EXPECT_FALSE(glob_match("third_party/", "x/third_party/b.cc"));
  EXPECT_TRUE(glob_match("/VERSION", "VERSION"));
  EXPECT_FALSE(glob_match("/VERSION", "src/VERSION"));
}

TEST(Glob, ManyStarsStayFast) {
  std::string pattern;
  std::string path;
  for (int i = 0; i < 60; ++i) {
    pattern += "**/a/";
    path += "a/";
  }
  EXPECT_FALSE(glob_match(pattern + "b", path + "c"));
}

TEST(Glob, EmptyAndBrokenPatterns) {
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_EQ(glob_problem("src/[a-c]/*.cc"), "");
  EXPECT_EQ(glob_problem("[]a]"), "");
  EXPECT_NE(glob_problem(""), "");
  EXPECT_NE(glob_problem("src/[ab"), "");
  EXPECT_NE(glob_problem("[]"), "");
  EXPECT_NE(glob_problem("a\\"), "");
}

TEST(NameMatch, StarMatchesSlashes) {
  EXPECT_TRUE(name_match("Sizes/*", "Sizes/Pool.Run/0"));
  EXPECT_TRUE(name_match("*Pool*", "Sizes/Pool.Run/0"));
  EXPECT_FALSE(name_match("Pool*", "Sizes/Pool.Run/0"));
}

}  // namespace
}  // namespace simrt::config
