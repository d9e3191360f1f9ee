// Unserialisable accesses under locks.
#include <gtest/gtest.h>

#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

struct DetectAtomicity : testing::Test, Play {
  Actor& main = Actor::main();
  Actor a = main.create(), b = main.create();
  static inline unsigned next = 0;
  unsigned s = next += 40;

  void locked(Actor& t, bool write, unsigned at, const void* lock) {
    t.lock(lock);
    write ? t.write(&x, s + at) : t.read(&x, s + at);
    t.unlock(lock);
  }
  void locked(Actor& t, bool write, unsigned at) { locked(t, write, at, &m); }
  void expect_one(uint32_t pattern) {
    ASSERT_EQ(findings.triples.size(), 1U);
    EXPECT_EQ(findings.triples[0].pattern, pattern);
    EXPECT_EQ(findings.races.size(), 0U);
  }
};

TEST_F(DetectAtomicity, CheckThenAct) {
  locked(b, true, 0);
  locked(a, false, 1);
  locked(a, true, 2);
  expect_one(7);
  const Unserialisable& found = findings.triples[0];
  ASSERT_EQ(found.count, 3U);
  EXPECT_EQ(found.accesses[0].pc, site(s + 1));
  EXPECT_EQ(found.accesses[1].pc, site(s));
  EXPECT_EQ(found.accesses[1].thread, b.index());
  EXPECT_EQ(found.accesses[2].pc, site(s + 2));
}

TEST_F(DetectAtomicity, TheOtherThreadMayComeAfterBoth) {
  locked(a, false, 1);
  locked(a, true, 2);
  locked(b, true, 0);
  expect_one(7);
}

TEST_F(DetectAtomicity, AllPatternsOfOneVariable) {
  const struct {
    bool first, between, second;
    uint32_t pattern;
  } kinds[] = {
      {false, true, false, 4}, {true, true, false, 5}, {true, false, true, 6}, {true, true, true, 8}};
  for (const auto& kind : kinds) {
    for (const bool comes_last : {false, true}) {
      Play fresh;
      Actor c = main.create(), d = main.create();
      s = next += 40;
      const auto locked_at = [&](Actor& t, bool write, unsigned at) {
        t.lock(&fresh.m);
        write ? t.write(&fresh.x, s + at) : t.read(&fresh.x, s + at);
        t.unlock(&fresh.m);
      };
      if (!comes_last) locked_at(d, kind.between, 0);
      locked_at(c, kind.first, 1);
      locked_at(c, kind.second, 2);
      if (comes_last) locked_at(d, kind.between, 0);
      expect_one(kind.pattern);
    }
  }
}

TEST_F(DetectAtomicity, ReadersBetweenReadAndWriteAreSerialisable) {
  locked(b, false, 0);
  locked(a, false, 1);
  locked(a, true, 2);
  EXPECT_EQ(findings.triples.size(), 0U);
}

TEST_F(DetectAtomicity, OneCriticalSectionIsAtomic) {
  locked(b, true, 0);
  a.lock(&m);
  a.read(&x, s + 1);
  a.lock(&n);  // another segment, the same section
  a.unlock(&n);
  a.write(&x, s + 2);
  a.unlock(&m);
  locked(b, true, 0);
  EXPECT_EQ(findings.triples.size(), 0U);
}

TEST_F(DetectAtomicity, TurnsOfALoopDoNotBelongTogether) {
  for (int i = 0; i < 3; ++i) {
    for (Actor* t : {&a, &b}) {
      t->lock(&m);
      t->read(&x, s);
      t->write(&x, s + 1);
      t->unlock(&m);
    }
  }
  EXPECT_EQ(findings.triples.size(), 0U);
}

TEST_F(DetectAtomicity, ArmsOfALoopAreDoubted) {
  locked(b, true, 0);
  locked(a, false, 1);
  locked(a, true, 2);
  ASSERT_EQ(findings.triples.size(), 1U);
  EXPECT_EQ(findings.doubts.size(), 0U);
  locked(a, false, 1);
  ASSERT_EQ(findings.doubts.size(), 1U);
  EXPECT_EQ(findings.doubts[0], findings.triples[0].id);
}

TEST_F(DetectAtomicity, AccessesInCalledFunctionsBelongToTheCaller) {
  locked(b, true, 0);
  a.enter(s + 10);
  a.enter(s + 11);  // a getter, called here
  locked(a, false, 30);
  a.leave();
  a.enter(s + 12);  // a setter, called further down
  locked(a, true, 20);
  a.leave();
  a.leave();
  expect_one(7);
}

TEST_F(DetectAtomicity, TheSameAccessUnderFewerLocksComesBetween) {
  a.lock(&n);
  locked(a, false, 1);
  locked(a, true, 2);
  a.unlock(&n);
  b.lock(&n);
  locked(b, true, 5);
  locked(b, true, 5);
  b.unlock(&n);
  EXPECT_EQ(findings.triples.size(), 0U);
  locked(b, true, 5);
  expect_one(7);
}

TEST_F(DetectAtomicity, WhatIsOrderedCannotComeBetween) {
  locked(b, true, 0);
  b.notify(&flag);
  a.wake(&flag);
  locked(a, false, 1);
  locked(a, true, 2);
  EXPECT_EQ(findings.triples.size(), 0U);
}

}  // namespace
}  // namespace simrt::rt::detect
