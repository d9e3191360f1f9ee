// How accesses are entered where first sites count: the quick way (record_at_place) leaves what the thorough
// one (record_first) does, and what it leaves out is told of all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "detect/access.h"
#include "detect/race.h"
#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

struct DetectRecord : testing::Test, Play {
  Actor& main = Actor::main();
  Actor a = main.create(), b = main.create();
  static inline unsigned next = 20000;  // sites are told of once a process: each test has its own
  unsigned s = next += 40;
  // Memory that no word with a race looks like: there the quick way is not taken.
  static constexpr uint64_t kHeap = 64;
  char* heap = take_clean();
  int& x = *reinterpret_cast<int*>(take_clean());
  int& y = *reinterpret_cast<int*>(take_clean());

  DetectRecord() {
    a.count_first_sites();
    b.count_first_sites();
  }
  static char* take_clean() {
    alignas(kHeap) static char pool[1u << 16];
    static char* free = pool;
    const auto is_clean = [](const char* block) {
      for (uint64_t at = 0; at < kHeap; at += 8)
        if (has_had_race(reinterpret_cast<uintptr_t>(block) + at)) return false;
      return true;
    };
    while (!is_clean(free)) free += kHeap;
    return std::exchange(free, free + kHeap);
  }
  /// Whether a race of an access at this site with the latest one was found.
  bool told(unsigned n) const {
    return std::any_of(findings.races.begin(), findings.races.end(),
                       [&](const Race& race) { return race.first.pc == site(n); });
  }
};

// Random granules, with what this thread and two others may have left there.
TEST_F(DetectRecord, TheQuickWayLeavesWhatTheThoroughOneDoes) {
  std::mt19937_64 random(11);
  Thread& thread = *self;
  const bool first_site_counts = thread.first_site_counts;
  thread.first_site_counts = true;
  const Thread* const others[] = {thread_with_index(a.index()), thread_with_index(b.index())};
  std::array<Place, 3> places;
  for (unsigned i = 0; i < places.size(); ++i) places[i] = make_place({site_of(site(s + i)), kNoContext});
  const auto some_place = [&] { return uint64_t{places[random() % places.size()]} << kPlaceShift; };
  const auto some_bytes = [&] { return (uint64_t{0x0f0fff0301} >> random() % 5 * 8 & kBytes); };
  const auto some_kind = [&] {
    const uint64_t kinds[] = {0, 0, kWrite, kWrite, kAtomic, kAtomic | kWrite, kWrite | kRelease};
    return kinds[random() % std::size(kinds)];
  };
  int changed = 0, kept = 0;
  for (uint64_t round = 0; round < 60000; ++round) {
    if (round % 64 == 0) {
      if (random() % 2 == 0) main.wake(&flag);
      for (Actor* other : {&a, &b})
        if (random() % 3 == 0) other->notify(random() % 2 == 0 ? &flag : &x);
      random() % 2 == 0 ? main.lock(&m) : main.lock(&n, 900 + random() % 2);
      if (random() % 2 == 0) main.unlock(&m), main.unlock(&n);
    }
    Granule granule = {};
    for (uint64_t& cell : granule.cell) {
      if (random() % 3 == 0) continue;
      const Thread& owner = random() % 2 == 0 ? thread : *others[random() % 2];
      const uint64_t age = std::min(random() % 4, owner.segment - owner.first_segment);
      cell = cell_base(owner.slot, owner.segment - age) | some_kind() | some_bytes() | some_place();
    }
    const uint64_t cell = thread.base | some_kind() | some_bytes() | some_place();
    if ((cell & kAtomic) == 0 && is_known_as_such(granule, cell)) continue;
    const uintptr_t word = reinterpret_cast<uintptr_t>(&memory[0]) + round * 8;
    const Site where = site_of(site(s));
    Granule quick = granule, thorough = granule;
    if (random() % 2 == 0) {  // the first one may leave something to remember to the other
      record_first(thread, thorough, cell, word, where);
      record_at_place(thread, quick, cell, word, where);
    } else {
      record_at_place(thread, quick, cell, word, where);
      record_first(thread, thorough, cell, word, where);
    }
    for (uint32_t i = 0; i < Granule::kCells; ++i) {
      ASSERT_EQ(quick.cell[i], thorough.cell[i]) << "round " << round << ", cell " << i;
      quick.cell[i] != granule.cell[i] ? ++changed : ++kept;
    }
  }
  EXPECT_GT(changed, 10000);
  EXPECT_GT(kept, 10000);
  main.unlock(&m);
  main.unlock(&n);
  thread.first_site_counts = first_site_counts;
}

TEST_F(DetectRecord, MemoryInANewLifeIsEnteredAgainInTheSameSegment) {
  a.write(heap, s);
  a.free(heap, kHeap, s + 1);
  a.allocate(heap, kHeap, s + 2);
  a.write(heap, s + 3);
  b.write(heap, s + 4);
  ASSERT_EQ(findings.races.size(), 1U);
  EXPECT_EQ(findings.races[0].first.pc, site(s + 3));
}

TEST_F(DetectRecord, TheReleaseOfAFullGranuleIsEnteredBesideAccessesOfItsSegment) {
  for (unsigned i = 0; i < 6; ++i) a.write(heap + i, s + i, 1);  // as many as there are cells, and more
  a.free(heap, kHeap, s + 10);
  b.write(heap, s + 11, 8);
  EXPECT_TRUE(told(s + 10));
  EXPECT_TRUE(told(s + 1) && told(s + 2));
}

TEST_F(DetectRecord, BytesOfOneSiteAreOneAccess) {
  for (unsigned i = 0; i < 8; ++i) a.write(heap + i, s, 1);
  for (unsigned i = 0; i < 8; ++i) a.read(heap + 8 + i, s + 1 + i % 2, 1);
  b.write(heap + 7, s + 3, 1);
  EXPECT_TRUE(told(s));
  b.write(heap + 14, s + 4, 1);
  EXPECT_TRUE(told(s + 1));
  EXPECT_FALSE(told(s + 2));
  b.write(heap + 15, s + 5, 1);
  EXPECT_TRUE(told(s + 2));
}

TEST_F(DetectRecord, ARangeThatIsKnownInPartIsEnteredWhereItIsNot) {
  a.write(heap + 8, s, 8);
  a.write(heap, s + 1, 24);
  b.write(heap + 8, s + 2, 8);
  EXPECT_TRUE(told(s));
  EXPECT_FALSE(told(s + 1)) << "the first site counts";
  b.write(heap + 16, s + 3, 8);
  EXPECT_TRUE(told(s + 1));
}

TEST_F(DetectRecord, WhatIsRepeatedInAnotherSegmentIsOfThatSegment) {
  a.write(&x, s);
  a.notify(&flag);
  b.wake(&flag);
  a.write(&x, s);
  b.write(&x, s + 1);
  ASSERT_EQ(findings.races.size(), 1U) << "b knows of the first one only";
}

TEST_F(DetectRecord, AtomicsAmongAtomicsAreEnteredForPlainAccesses) {
  a.update(&x, Order::Relaxed, s);
  b.update(&x, Order::Relaxed, s + 1);
  a.notify(&flag);
  a.update(&x, Order::Relaxed, s);
  EXPECT_EQ(findings.races.size(), 0U);
  main.wake(&flag);
  main.read(&x, s + 2);
  EXPECT_TRUE(told(s)) << "its second one";
  EXPECT_TRUE(told(s + 1));
}

// Sections that access a word under a lock, once it is remembered where the access is made (which is looked
// up the first time) and that the lock keeps the threads apart (from an access of `y` in the same section).
struct DetectRecordSections : DetectRecord {
  void section(Actor& t, bool write, unsigned at) {
    const auto make = [&](const void* word, unsigned n) { write ? t.write(word, n) : t.read(word, n); };
    make(take_clean(), at + 10);
    t.lock(&m);
    make(&y, at);
    make(&x, at + 10);
    t.unlock(&m);
  }
  /// Whether the accesses of `x` at these sites were found to be unserialisable.
  bool found(unsigned first, unsigned between, unsigned second) const {
    return std::any_of(findings.triples.begin(), findings.triples.end(), [&](const Unserialisable& triple) {
      return triple.accesses[0].pc == site(first + 10) && triple.accesses[1].pc == site(between + 10) &&
             triple.accesses[2].pc == site(second + 10);
    });
  }
};

TEST_F(DetectRecordSections, WhatIsRepeatedMayComeBetween) {
  section(b, true, s);
  b.notify(&flag);
  a.wake(&flag);
  section(a, false, s + 1);
  section(a, true, s + 2);
  EXPECT_EQ(findings.triples.size(), 0U) << "that of b came before";
  section(b, true, s);
  EXPECT_TRUE(found(s + 1, s, s + 2));
  EXPECT_EQ(findings.races.size(), 0U);
}

TEST_F(DetectRecordSections, WhatIsRepeatedMayBelongToWhatCameAfterIt) {
  section(b, true, s);
  section(a, true, s + 1);
  section(a, false, s + 2);
  section(a, true, s + 3);
  EXPECT_TRUE(found(s + 2, s, s + 3));
  EXPECT_EQ(findings.races.size(), 0U);
}

TEST_F(DetectRecord, AnAtomicThatIsRepeatedMeetsAPlainAccess) {
  a.update(&x, Order::Relaxed, s);
  a.notify(&flag);
  b.wake(&flag);
  b.write(&x, s + 1);
  EXPECT_EQ(findings.races.size(), 0U);
  a.update(&x, Order::Relaxed, s);
  EXPECT_TRUE(told(s + 1));
}

// Cells tell 2^21 segments of a thread apart: what is older must not be taken for this segment's.
TEST_F(DetectRecord, SegmentsThatLookLikeThisOneAreNot) {
  a.write(heap, s);
  a.notify(&flag);
  b.wake(&flag);
  for (uint64_t i = 0; i < (uint64_t{1} << kSegmentBits) - 1; ++i) a.notify(&m);
  a.write(heap, s + 1);
  b.write(heap, s + 2);
  ASSERT_EQ(findings.races.size(), 1U);
  EXPECT_EQ(findings.races[0].first.pc, site(s + 1));
}

// The first of what was found at a word is no reason to leave out what others do there.
TEST_F(DetectRecord, SitesAtMemoryThatHasHadARaceAreTold) {
  a.write(&y, s + 2);
  a.write(&x, s);
  b.write(&x, s + 1);
  const std::size_t before = findings.sites.size();
  b.notify(&flag);
  a.wake(&flag);  // no race any more
  a.notify(&m);
  a.write(&x, s + 2);
  ASSERT_GT(findings.sites.size(), before);
  EXPECT_EQ(findings.sites.back().pc, site(s + 2));
}

}  // namespace
}  // namespace simrt::rt::detect
