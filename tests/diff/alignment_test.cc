#include "diff/alignment.h"

#include <gmock/gmock.h>

#include <string>

namespace simrt::diff {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string common(const std::string& a, const std::string& b) {
  std::string out;
  for (const auto& [i, j] :
       align(a.size(), b.size(), [&](std::size_t i, std::size_t j) { return a[i] == b[j] ? 1u : 0u; })) {
    EXPECT_EQ(a[i], b[j]);
    out += a[i];
  }
  return out;
}

TEST(Align, FindsALongestCommonSubsequence) {
  EXPECT_EQ(common("abcbdab", "bdcaba").size(), 4u);
  EXPECT_EQ(common("abc", "abc"), "abc");
  EXPECT_EQ(common("abc", "axbyc"), "abc");
  EXPECT_EQ(common("abc", "def"), "");
  EXPECT_EQ(common("", "def"), "");
}

TEST(Align, PrefersTheHeavierPair) {
  const std::vector<std::vector<std::uint32_t>> weights{{1, 2}};
  EXPECT_THAT(align(1, 2, [&](std::size_t i, std::size_t j) { return weights[i][j]; }),
              ElementsAre(Pair(0u, 1u)));
}

TEST(Align, KeepsCommonEndsWhenTheMiddleIsTooLarge) {
  // 3,000 x 3,000 different items between 2 equal ones at each end: over kAlignmentCells.
  const std::size_t size = 3'004;
  const auto weight = [&](std::size_t i, std::size_t j) {
    return i == j && (i < 2 || i >= size - 2) ? 1u : 0u;
  };
  EXPECT_THAT(align(size, size, weight),
              ElementsAre(Pair(0u, 0u), Pair(1u, 1u), Pair(size - 2, size - 2), Pair(size - 1, size - 1)));
}

TEST(LongestIncreasing, PicksIndices) {
  EXPECT_THAT(longest_increasing({3, 1, 2, 5, 4}).size(), 3u);
  EXPECT_THAT(longest_increasing({5, 4, 3}).size(), 1u);
  EXPECT_THAT(longest_increasing({1, 2, 3}), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(longest_increasing({}), ElementsAre());
}

}  // namespace
}  // namespace simrt::diff
