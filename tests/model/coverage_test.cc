#include "model/coverage.h"

#include <gtest/gtest.h>

namespace simrt {
namespace {

TestCoverage sample() {
  TestCoverage coverage;
  coverage.single.push_back({"main", {}});
  coverage.single.push_back({"main/a", {}});
  coverage.single[0].blocks.add(1);
  coverage.single[0].blocks.add(2);
  coverage.single[1].blocks.add(3);
  coverage.several.add(4);
  return coverage;
}

TEST(TestCoverage, TwoThreadsNeededForTheCondition) {
  const TestCoverage coverage = sample();
  EXPECT_FALSE(coverage.covers_with_two_threads(1, 2));  // both by main only
  EXPECT_TRUE(coverage.covers_with_two_threads(1, 3));
  EXPECT_TRUE(coverage.covers_with_two_threads(4, 4));
  EXPECT_FALSE(coverage.covers_with_two_threads(1, 1));
  EXPECT_TRUE(coverage.covers_with_two_threads(1, 4));
  EXPECT_FALSE(coverage.covers_with_two_threads(4, 9));  // 9 is not covered
}

TEST(TestCoverage, WitnessNamesTheRoles) {
  EXPECT_EQ(sample().witness(2, 3), (std::pair<std::string, std::string>{"main", "main/a"}));
  EXPECT_EQ(sample().witness(4, 1).first, "several");
}

TEST(TestCoverage, AllIsTheUnion) { EXPECT_EQ(sample().all().cardinality(), 4U); }

}  // namespace
}  // namespace simrt
