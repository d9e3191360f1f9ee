// Potential deadlocks.
#include <gtest/gtest.h>

#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

struct DetectLocks : testing::Test, Play {
  Actor& main = Actor::main();
  Actor a = main.create(), b = main.create(), c = main.create();
  static inline unsigned next = 0;
  unsigned s = next += 20;

  void nest(Actor& t, const void* outer, const void* inner, unsigned at) {
    t.lock(outer, s + at);
    t.lock(inner, s + at + 1);
    t.unlock(inner);
    t.unlock(outer);
  }
};

TEST_F(DetectLocks, TwoLocksInTwoOrders) {
  nest(a, &m, &n, 0);
  EXPECT_EQ(findings.cycles.size(), 0U);
  nest(b, &n, &m, 2);
  ASSERT_EQ(findings.cycles.size(), 1U);
  const LockCycle& cycle = findings.cycles[0];
  ASSERT_EQ(cycle.count, 2U);
  EXPECT_EQ(cycle.edges[0].thread, b.index());
  EXPECT_EQ(cycle.edges[0].held.lock, reinterpret_cast<uintptr_t>(&n));
  EXPECT_EQ(cycle.edges[0].held.pc, site(s + 2));
  EXPECT_EQ(cycle.edges[0].wanted.lock, reinterpret_cast<uintptr_t>(&m));
  EXPECT_EQ(cycle.edges[0].wanted.pc, site(s + 3));
  EXPECT_EQ(cycle.edges[1].thread, a.index());
  nest(b, &n, &m, 2);
  EXPECT_EQ(findings.cycles.size(), 1U);
}

TEST_F(DetectLocks, ThreeLocksInARing) {
  nest(a, &m, &n, 0);
  nest(b, &n, &o, 2);
  EXPECT_EQ(findings.cycles.size(), 0U);
  nest(c, &o, &m, 4);
  ASSERT_EQ(findings.cycles.size(), 1U);
  EXPECT_EQ(findings.cycles[0].count, 3U);
}

TEST_F(DetectLocks, OneThreadAloneDoesNotDeadlock) {
  nest(a, &m, &n, 0);
  nest(a, &n, &m, 2);
  EXPECT_EQ(findings.cycles.size(), 0U);
}

TEST_F(DetectLocks, ALockAroundBothIsAGate) {
  a.lock(&o);
  nest(a, &m, &n, 0);
  a.unlock(&o);
  b.lock(&o);
  nest(b, &n, &m, 2);
  b.unlock(&o);
  EXPECT_EQ(findings.cycles.size(), 0U);
}

TEST_F(DetectLocks, WhatAnotherThreadDidBeforeThisOneStartedIsOver) {
  nest(a, &m, &n, 0);
  a.end();
  main.join(a);
  Actor later = main.create();
  nest(later, &n, &m, 2);
  EXPECT_EQ(findings.cycles.size(), 0U);
}

TEST_F(DetectLocks, ANotificationBetweenOrders) {
  nest(a, &m, &n, 0);
  a.notify(&flag);
  b.wake(&flag);
  nest(b, &n, &m, 2);
  EXPECT_EQ(findings.cycles.size(), 0U);
  nest(a, &m, &n, 0);  // once more, now beside the other thread
  EXPECT_EQ(findings.cycles.size(), 1U);
}

TEST_F(DetectLocks, ReadersDoNotWaitForReaders) {
  a.lock_shared(&m);
  a.lock_shared(&n);
  a.unlock_shared(&n);
  a.unlock_shared(&m);
  b.lock_shared(&n);
  b.lock_shared(&m);
  b.unlock_shared(&m);
  b.unlock_shared(&n);
  EXPECT_EQ(findings.cycles.size(), 0U);
}

TEST_F(DetectLocks, ATriedLockDoesNotWait) {
  nest(a, &m, &n, 0);
  b.lock(&n);
  b.try_lock(&m);
  b.unlock(&m);
  b.unlock(&n);
  EXPECT_EQ(findings.cycles.size(), 0U);
}

TEST_F(DetectLocks, ANewLockAtTheSameAddressIsAnother) {
  nest(a, &m, &n, 0);
  main.allocate(&n, sizeof n);
  nest(b, &n, &m, 2);
  EXPECT_EQ(findings.cycles.size(), 0U);
}

}  // namespace
}  // namespace simrt::rt::detect
