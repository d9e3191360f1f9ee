#include "testing/processor_claim.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <vector>

#include "support/task_pool.h"

namespace simrt::testing {
namespace {

class ProcessorClaims : public ::testing::Test {
 protected:
  ProcessorClaims() {
    char name[] = "/tmp/simrt-claims-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ProcessorClaims() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

TEST_F(ProcessorClaims, NoTwoGetTheSameProcessorWhileOthersAreFree) {
  std::vector<ProcessorClaim> claims;
  std::set<std::uint32_t> taken;
  for (unsigned i = 0; i < available_processors(); ++i) {
    claims.push_back(ProcessorClaim::take(directory_));
    ASSERT_TRUE(claims.back().processor().has_value());
    EXPECT_TRUE(claims.back().exclusive());
    EXPECT_TRUE(taken.insert(*claims.back().processor()).second);
  }
  const ProcessorClaim late = ProcessorClaim::take(directory_);
  EXPECT_FALSE(late.exclusive());
  ASSERT_TRUE(late.processor().has_value());
  EXPECT_TRUE(taken.contains(*late.processor()));
  // What is given up is free again.
  const std::uint32_t freed = *claims.back().processor();
  claims.pop_back();
  const ProcessorClaim next = ProcessorClaim::take(directory_);
  EXPECT_TRUE(next.exclusive());
  EXPECT_EQ(next.processor(), freed);
}

TEST_F(ProcessorClaims, AnotherProcessHasItsOwnAndADeadOneHasNone) {
  const pid_t child = fork();
  if (child == 0) {
    const ProcessorClaim claim = ProcessorClaim::take(directory_);
    _exit(claim.exclusive() && raise(SIGKILL) == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::vector<ProcessorClaim> claims;
  for (unsigned i = 0; i < available_processors(); ++i) claims.push_back(ProcessorClaim::take(directory_));
  for (const ProcessorClaim& claim : claims) EXPECT_TRUE(claim.exclusive());
}

TEST_F(ProcessorClaims, OnlyProcessorsThatTheProcessMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int last = -1;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &before)) last = processor;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const ProcessorClaim claim = ProcessorClaim::take(directory_);
  const ProcessorClaim shared = ProcessorClaim::take(directory_);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(claim.processor(), static_cast<std::uint32_t>(last));
  EXPECT_EQ(shared.processor(), static_cast<std::uint32_t>(last));
}

TEST_F(ProcessorClaims, WithoutAPlaceForTheClaimsTheProcessorIsShared) {
  const ProcessorClaim claim = ProcessorClaim::take(directory_ + "/not/there");
  EXPECT_TRUE(claim.processor().has_value());
  EXPECT_FALSE(claim.exclusive());
}

}  // namespace
}  // namespace simrt::testing
