// Memory orders of atomics.
#include <gtest/gtest.h>

#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

struct DetectAtomic : testing::Test, Play {
  Actor& main = Actor::main();
  Actor a = main.create(), b = main.create(), c = main.create();
  static inline unsigned next = 0;
  unsigned s = next += 20;

  void publish() { a.write(&x, s); }
  std::size_t races_of_reader(Actor& reader) {
    reader.read(&x, s + 1);
    return findings.races.size();
  }
};

TEST_F(DetectAtomic, ReleaseAndAcquireOrder) {
  publish();
  a.store(&flag, Order::Release);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 0U);
}

// What a thread published before and what it knows already are not looked at again: nothing newer may be
// lost.
TEST_F(DetectAtomic, EachReleasePublishesWhatCameSince) {
  a.store(&flag, Order::Release);
  b.load(&flag, Order::Acquire);
  publish();
  a.store(&flag, Order::Release);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 0U);
}

TEST_F(DetectAtomic, AnEarlierReleaseDoesNotPublishWhatCameSince) {
  a.store(&flag, Order::Release);
  publish();
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 1U);
}

TEST_F(DetectAtomic, AReleaseAfterAnAcquirePassesTheOthersOn) {
  b.store(&flag, Order::Release);
  publish();
  a.update(&y, Order::AcquireRelease);
  b.update(&y, Order::AcquireRelease);  // knows more than at its last store
  b.store(&flag, Order::Release);
  c.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(c), 0U);
}

TEST_F(DetectAtomic, UpdatesOfSeveralThreadsAreAllTakenOver) {
  publish();
  a.update(&flag, Order::Release);
  b.update(&flag, Order::Release);  // took nothing over: what is there is of both
  b.update(&flag, Order::Release);
  c.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(c), 0U);
}

TEST_F(DetectAtomic, AStoreForgetsWhatOthersPublished) {
  publish();
  a.store(&flag, Order::Release);
  b.store(&flag, Order::Release);
  c.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(c), 1U);
}

// The foreign thread counts as knowing of a's segment, which goes on and learns of c's.
TEST_F(DetectAtomic, AForeignThreadTakesOverWhatARunningSegmentLearns) {
  Actor foreign = Actor::appear();
  c.store(&flag, Order::Release);  // what c does from here on is not known
  c.write(&x, s);
  c.store(&flag, Order::Release);
  a.load(&flag, Order::Acquire);
  a.store(&y, Order::Release);
  foreign.load(&y, Order::Acquire);
  EXPECT_EQ(races_of_reader(foreign), 0U);
}

TEST_F(DetectAtomic, WhatALockPassedOnIsNoPublicationByItself) {
  b.store(&flag, Order::Release);
  a.lock(&m);
  publish();
  a.unlock(&m);
  b.lock(&m);
  b.unlock(&m);
  b.store(&flag, Order::Release);
  c.load(&flag, Order::Acquire);
  c.read(&x, s + 1);
  EXPECT_EQ(findings.count(Evidence::Witnessed), 0U);
}

TEST_F(DetectAtomic, RelaxedStoreDoesNotPublish) {
  publish();
  a.store(&flag, Order::Relaxed);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 1U);
}

TEST_F(DetectAtomic, RelaxedLoadDoesNotTakeOver) {
  publish();
  a.store(&flag, Order::Release);
  b.load(&flag, Order::Relaxed);
  EXPECT_EQ(races_of_reader(b), 1U);
}

TEST_F(DetectAtomic, AnAcquireFenceBehindARelaxedLoadTakesOver) {
  publish();
  a.store(&flag, Order::Release);
  b.load(&flag, Order::Relaxed);
  b.fence(Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 0U);
}

TEST_F(DetectAtomic, AReleaseFenceBeforeARelaxedStorePublishes) {
  publish();
  a.fence(Order::Release);
  a.store(&flag, Order::Relaxed);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 0U);
}

TEST_F(DetectAtomic, AReleaseFencePublishesWhatWasBeforeIt) {
  a.fence(Order::Release);
  publish();
  a.store(&flag, Order::Relaxed);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 1U);
}

TEST_F(DetectAtomic, ReadModifyWritesGoOnWithAReleaseSequence) {
  publish();
  a.store(&flag, Order::Release);
  c.update(&flag, Order::Relaxed);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 0U);
  EXPECT_EQ(races_of_reader(c), 1U);
}

TEST_F(DetectAtomic, ARelaxedStoreEndsAReleaseSequence) {
  publish();
  a.store(&flag, Order::Release);
  c.store(&flag, Order::Relaxed);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 1U);
}

TEST_F(DetectAtomic, AReleaseStoreReplacesWhatOthersPublished) {
  publish();
  a.store(&flag, Order::Release);
  c.store(&flag, Order::Release);
  b.load(&flag, Order::Acquire);
  EXPECT_EQ(races_of_reader(b), 1U);
}

TEST_F(DetectAtomic, CountersOrderTheLastOne) {
  publish();
  a.update(&flag, Order::AcquireRelease);
  c.write(&y, s + 3);
  c.update(&flag, Order::AcquireRelease);
  b.update(&flag, Order::AcquireRelease);
  b.read(&y, s + 4);
  EXPECT_EQ(races_of_reader(b), 0U);
}

TEST_F(DetectAtomic, AtomicsDoNotRaceWithEachOther) {
  a.store(&flag, Order::Relaxed);
  b.store(&flag, Order::Relaxed);
  b.load(&flag, Order::Relaxed);
  EXPECT_EQ(findings.races.size(), 0U);
}

TEST_F(DetectAtomic, PlainAccessesRaceWithAtomics) {
  a.store(&flag, Order::SequentiallyConsistent, s + 5);
  b.read(&flag, s + 6);
  ASSERT_EQ(findings.races.size(), 1U);
  EXPECT_TRUE(findings.races[0].first.atomic);
  EXPECT_FALSE(findings.races[0].second.atomic);
}

TEST_F(DetectAtomic, AWriteRacesWithAFailedCompareExchange) {
  a.load(&flag, Order::Relaxed, s + 5);
  b.read(&flag, s + 6);
  EXPECT_EQ(findings.races.size(), 0U);
  b.write(&flag, s + 7);
  EXPECT_EQ(findings.races.size(), 1U);
}

TEST_F(DetectAtomic, AnAtomicUnderTheObjectsOwnLockHandsDataOver) {
  a.write(&x, s);
  a.lock(&m);
  a.store(&flag, Order::Relaxed, s + 5);
  a.unlock(&m);
  b.lock(&m);
  b.write(&flag, s + 6);
  b.unlock(&m);
  b.write(&x, s + 1);
  EXPECT_EQ(findings.count(Evidence::Predicted), 0U);
}

// With watched sites in the plan, an atomic elsewhere is no access that may race, but orders all the same.
TEST_F(DetectAtomic, UnwatchedAtomicsOrderOnly) {
  Watch only;
  ASSERT_TRUE(only.reset(true, 1));
  only.add(site(910));
  a.watch_only(&only);
  a.store(&y, Order::Relaxed);  // site 911
  b.write(&y, s);
  EXPECT_EQ(findings.races.size(), 0U);
  a.load(&y, Order::Relaxed);  // site 910
  EXPECT_EQ(findings.races.size(), 1U);
  publish();
  a.store(&flag, Order::Release);
  b.load(&flag, Order::Acquire);
  b.read(&x, s + 1);
  EXPECT_EQ(findings.races.size(), 1U);
  a.watch_only(nullptr);
}

// An atomic access conflicts with less than a plain one: it does not stand for one that was made before.
TEST_F(DetectAtomic, APlainAccessIsStillKnownBehindAnAtomicOne) {
  for (const bool first_sites : {false, true}) {
    if (first_sites) a.count_first_sites();
    const unsigned begin = first_sites ? s + 3 : s;  // a pair of sites is told once
    int& word = first_sites ? y : x;
    a.write(&word, begin);
    a.notify(&memory[48]);  // the next segment
    a.store(&word, Order::Relaxed, begin + 1);
    findings.races.clear();
    b.load(&word, Order::Relaxed, begin + 2);
    ASSERT_EQ(findings.races.size(), 1U) << first_sites;
    EXPECT_EQ(findings.races[0].first.pc, site(begin));
  }
}

}  // namespace
}  // namespace simrt::rt::detect
