#include "support/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace simrt {
namespace {

bool readable(int descriptor) {
  pollfd event = {descriptor, POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

TEST(Interrupt, RequestSetsFlagAndDescriptor) {
  InterruptToken token;
  EXPECT_FALSE(token.requested());
  EXPECT_FALSE(readable(token.descriptor()));
  token.request();
  token.request();
  EXPECT_TRUE(token.requested());
  EXPECT_TRUE(readable(token.descriptor()));
}

TEST(Interrupt, FirstSignalRequestsAStop) {
  InterruptToken token;
  {
    const InterruptScope scope(token);
    ::raise(SIGTERM);
    EXPECT_TRUE(token.requested());
  }
  struct sigaction now = {};
  ::sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(Interrupt, SecondSignalEndsTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    InterruptToken token;
    const InterruptScope scope(token);
    ::raise(SIGINT);
    if (!token.requested()) ::_exit(1);
    ::raise(SIGINT);
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupt, IgnoredSignalsStayIgnored) {
  ::signal(SIGINT, SIG_IGN);  // as under nohup or in a background job of a script
  InterruptToken token;
  {
    const InterruptScope scope(token);
    ::raise(SIGINT);
  }
  ::signal(SIGINT, SIG_DFL);
  EXPECT_FALSE(token.requested());
}

TEST(Interrupt, ASecondScopeIsInert) {
  InterruptToken outer;
  InterruptToken inner;
  const InterruptScope first(outer);
  {
    const InterruptScope second(inner);
  }
  ::raise(SIGTERM);
  EXPECT_TRUE(outer.requested());
  EXPECT_FALSE(inner.requested());
}

}  // namespace
}  // namespace simrt
