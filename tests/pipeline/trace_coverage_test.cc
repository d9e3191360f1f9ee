// Coverage of a test with several processes: whose blocks count as covered by two threads.
#include "pipeline/trace_coverage.h"

#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

using Threads = std::vector<ThreadCoverage>;

BlockSet blocks(const std::vector<BlockNumber>& numbers) { return {numbers.size(), numbers.data()}; }

TEST(TraceCoverage, ThreadsOfOneProcessThatMeetInABlockAreSeveral) {
  const TestCoverage coverage =
      combine_processes({Threads{{"main", blocks({1, 2})}, {"main/worker#0", blocks({2, 3})}}});
  EXPECT_EQ(coverage.threads, 2u);
  EXPECT_TRUE(coverage.covers_with_two_threads(2, 2));
  EXPECT_TRUE(coverage.covers_with_two_threads(1, 3));
  EXPECT_FALSE(coverage.covers_with_two_threads(1, 1));
}

TEST(TraceCoverage, TwoRunsOfASingleThreadedProgramAreOneThread) {
  const TestCoverage coverage =
      combine_processes({Threads{{"main", blocks({1, 2})}}, Threads{{"main", blocks({2, 3})}}});
  EXPECT_EQ(coverage.threads, 1u);
  EXPECT_TRUE(coverage.several.isEmpty());
  EXPECT_FALSE(coverage.covers_with_two_threads(2, 2));
  EXPECT_FALSE(coverage.covers_with_two_threads(1, 3));
  EXPECT_TRUE(coverage.covers(1) && coverage.covers(2) && coverage.covers(3));
}

TEST(TraceCoverage, APairOfTwoThreadsOfALaterProcessIsKept) {
  const TestCoverage coverage = combine_processes(
      {Threads{{"main", blocks({1, 3})}}, Threads{{"main", blocks({1})}, {"main/worker#0", blocks({3})}}});
  EXPECT_EQ(coverage.threads, 2u);
  EXPECT_TRUE(coverage.covers_with_two_threads(1, 3));
}

TEST(TraceCoverage, ThreadsOfOneProcessWithTheSameRoleStayTwo) {
  const Threads threads{{"main", blocks({1})}, {"main/?#0", blocks({2})}, {"main/?#0", blocks({2})}};
  const TestCoverage coverage = combine_processes({threads, threads});
  EXPECT_EQ(coverage.threads, 3u);
  EXPECT_TRUE(coverage.covers_with_two_threads(2, 2));
  EXPECT_FALSE(coverage.covers_with_two_threads(1, 1));
}

}  // namespace
}  // namespace simrt::pipeline
