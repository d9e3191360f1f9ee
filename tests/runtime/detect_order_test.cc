// Which accesses the detector calls ordered, and by what. Every ordering is shown by a pair that is silent
// beside one that is not.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "detect/access.h"
#include "detect/heap.h"
#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

struct DetectOrder : testing::Test, Play {
  Actor& main = Actor::main();
  Actor a = main.create(), b = main.create();
  // Sites are told of once a process: each test has its own.
  static inline unsigned next = 0;
  unsigned s = next += 40;

  void expect_silent() { EXPECT_EQ(findings.races.size(), 0U); }
  void expect_one(Evidence evidence) {
    ASSERT_EQ(findings.races.size(), 1U);
    EXPECT_EQ(findings.races[0].evidence, evidence);
  }
};

TEST_F(DetectOrder, NothingBetweenTwoWritesIsARace) {
  a.write(&x, s);
  b.write(&x, s + 1);
  expect_one(Evidence::Witnessed);
  const Race& race = findings.races[0];
  EXPECT_EQ(race.first.pc, site(s));
  EXPECT_EQ(race.second.pc, site(s + 1));
  EXPECT_EQ(race.first.thread, a.index());
  EXPECT_EQ(race.second.thread, b.index());
  EXPECT_EQ(race.first.address, reinterpret_cast<uintptr_t>(&x));
  EXPECT_EQ(race.first.size, 4U);
  EXPECT_TRUE(race.first.write);
}

TEST_F(DetectOrder, ReadsDoNotRaceWithReads) {
  a.read(&x, s);
  b.read(&x, s + 1);
  expect_silent();
  b.write(&x, s + 2);
  expect_one(Evidence::Witnessed);
  EXPECT_EQ(findings.races[0].first.pc, site(s));
}

TEST_F(DetectOrder, NeighbouringBytesDoNotRace) {
  auto* bytes = reinterpret_cast<char*>(&x);
  a.write(bytes, s, 1);
  b.write(bytes + 1, s + 1, 1);
  b.write(bytes + 4, s + 2, 4);
  expect_silent();
  b.write(bytes, s + 3, 2);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, AnAccessAcrossTwoWordsIsSeenInBoth) {
  auto* bytes = reinterpret_cast<char*>(&x);
  a.write(bytes + 6, s, 4);
  b.write(bytes + 9, s + 1, 1);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, CreationAndJoinOrder) {
  main.write(&x, s);
  Actor c = main.create();
  c.write(&x, s + 1);
  c.end();
  main.join(c);
  main.write(&x, s + 2);
  expect_silent();
  a.write(&x, s + 3);  // was created before all this
  EXPECT_EQ(findings.count(Evidence::Witnessed), findings.races.size());
  EXPECT_GE(findings.races.size(), 1U);
}

TEST_F(DetectOrder, OneLockProtects) {
  for (int round = 0; round < 3; ++round) {
    for (Actor* t : {&a, &b}) {
      t->lock(&m);
      t->read(&x, s);
      t->write(&x, s + 1);
      t->unlock(&m);
    }
  }
  expect_silent();
}

TEST_F(DetectOrder, TwoLocksDoNotProtect) {
  a.lock(&m, 700);
  a.write(&x, s);
  a.unlock(&m);
  b.lock(&n, 701);
  b.write(&x, s + 1);
  b.unlock(&n);
  expect_one(Evidence::Witnessed);
  ASSERT_EQ(findings.races[0].first.locks, 1U);
  EXPECT_EQ(findings.races[0].first.held[0].lock, reinterpret_cast<uintptr_t>(&m));
  EXPECT_EQ(findings.races[0].first.held[0].pc, site(700));
  ASSERT_EQ(findings.races[0].second.locks, 1U);
  EXPECT_EQ(findings.races[0].second.held[0].lock, reinterpret_cast<uintptr_t>(&n));
}

TEST_F(DetectOrder, AnAccidentalHandOverHidesNothing) {
  a.write(&x, s);
  a.lock(&m);
  a.write(&y, s + 1);
  a.unlock(&m);
  b.lock(&m);
  b.write(&flag, s + 2);  // nothing in common with what `a` did under the lock
  b.unlock(&m);
  b.write(&x, s + 3);
  expect_one(Evidence::Predicted);
}

TEST_F(DetectOrder, AHandOverWithDataOrders) {
  a.write(&x, s);
  a.lock(&m);
  a.write(&flag, s + 1);
  a.unlock(&m);
  b.lock(&m);
  b.read(&flag, s + 2);
  b.unlock(&m);
  b.write(&x, s + 3);
  expect_one(Evidence::Possible);  // said, but not as something that is likely wrong
}

TEST_F(DetectOrder, DataThatWentThroughAThirdThreadOrders) {
  Actor c = main.create();
  a.write(&x, s);
  a.lock(&m);
  a.write(&flag, s + 1);
  a.unlock(&m);
  c.lock(&m);
  c.write(&flag, s + 2);
  c.unlock(&m);
  c.lock(&n);
  c.write(&y, s + 3);
  c.unlock(&n);
  b.lock(&n);
  b.read(&y, s + 4);
  b.unlock(&n);
  b.write(&x, s + 5);
  EXPECT_EQ(findings.count(Evidence::Predicted), 0U);
}

TEST_F(DetectOrder, LockedAndUnlockedIsARaceInEitherOrder) {
  a.write(&x, s);
  b.lock(&m);
  b.write(&x, s + 1);
  b.unlock(&m);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, ALaterLockedAccessDoesNotHideTheUnlockedOne) {
  a.write(&x, s);
  a.lock(&m);
  a.write(&x, s + 1);
  a.unlock(&m);
  b.lock(&m);
  b.write(&x, s + 2);
  b.unlock(&m);
  ASSERT_EQ(findings.races.size(), 1U);
  EXPECT_EQ(findings.races[0].first.pc, site(s));
}

TEST_F(DetectOrder, ReadLocksKeepWritersOutOnly) {
  a.lock_shared(&m);
  a.read(&x, s);
  a.unlock_shared(&m);
  b.lock(&m);
  b.write(&x, s + 1);
  b.unlock(&m);
  a.lock_shared(&m);
  a.read(&x, s + 2);
  a.unlock_shared(&m);
  expect_silent();
  a.lock_shared(&m);
  a.write(&y, s + 3);
  a.unlock_shared(&m);
  b.lock_shared(&m);
  b.write(&y, s + 4);
  b.unlock_shared(&m);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, ReadersDoNotOrderReaders) {
  a.write(&x, s);
  a.lock_shared(&m);
  a.unlock_shared(&m);
  b.lock_shared(&m);
  b.unlock_shared(&m);
  b.write(&x, s + 1);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, NotificationOrders) {
  a.write(&x, s);
  a.notify(&n);
  b.wake(&n);
  b.write(&x, s + 1);
  expect_silent();
  a.write(&y, s + 2);  // behind the notification
  b.write(&y, s + 3);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, RecursionKeepsTheLock) {
  a.lock(&m);
  a.lock(&m);
  a.unlock(&m);
  a.write(&x, s);
  a.unlock(&m);
  b.lock(&m);
  b.write(&x, s + 1);
  b.unlock(&m);
  expect_silent();
}

TEST_F(DetectOrder, TheSameMemoryInANewLifeIsAnother) {
  alignas(16) static int heap[4];
  a.allocate(heap, sizeof heap);
  a.write(heap, s);
  a.free(heap, sizeof heap, s + 5);
  b.allocate(heap, sizeof heap, s + 6);
  b.write(heap, s + 1);
  expect_silent();
}

TEST_F(DetectOrder, UseAfterFreeIsARaceWithTheFree) {
  alignas(16) static int heap[4];
  a.enter(s + 9);
  a.allocate(heap, sizeof heap, s + 8);
  a.leave();
  a.free(heap, sizeof heap, s);
  b.read(heap + 1, s + 1);
  expect_one(Evidence::Witnessed);
  EXPECT_TRUE(findings.races[0].first.release_of_memory);
  EXPECT_EQ(findings.races[0].block.address, reinterpret_cast<uintptr_t>(heap));
  EXPECT_EQ(findings.races[0].block.size, sizeof heap);
  EXPECT_EQ(findings.races[0].block.pc, site(s + 8));
  ASSERT_EQ(findings.races[0].block.frames, 1U);
  EXPECT_EQ(findings.races[0].block.stack[0], site(s + 9));
}

// As close to each other as glibc's allocator puts blocks: chunks of 32 bytes and more, 16 of them its own.
TEST_F(DetectOrder, EachBlockIsFoundByWhatLiesInIt) {
  alignas(16) static char heap[1 << 16];
  std::mt19937 random(1);
  std::vector<std::pair<uintptr_t, uint64_t>> blocks;
  for (uint64_t chunk = 16; chunk + 512 < sizeof heap;) {
    const uint64_t bytes = 32 + random() % 28 * 16;
    a.allocate(heap + chunk, bytes - 8, s);
    blocks.emplace_back(reinterpret_cast<uintptr_t>(heap + chunk), bytes - 8);
    chunk += bytes;
  }
  for (const auto& [address, size] : blocks) {
    Block found;
    for (const uint64_t inside : {uint64_t{0}, random() % size, size - 1}) {
      find_block(address + inside, found);
      ASSERT_EQ(found.address, address) << inside;
      ASSERT_EQ(found.size, size);
    }
  }
}

// Larger than what is cleared by hand, marked when it is freed, or given its shadow at once.
struct DetectLargeBlock : DetectOrder {
  static constexpr uint64_t kSize = 60 * 4096;
  alignas(4096) static inline char block[kSize];
  static constexpr uint64_t kPlaces[] = {0, 8, 4096, 5 * 4096 + 16, kSize - 8};

  void SetUp() override { main.allocate(block, kSize, s + 9); }
};

TEST_F(DetectLargeBlock, ANewLifeIsAnother) {
  for (const uint64_t at : kPlaces) a.write(block + at, s);
  main.allocate(block, kSize, s + 6);
  for (const uint64_t at : kPlaces) b.write(block + at, s + 1);
  EXPECT_EQ(findings.races.size(), 0U);
  main.allocate(block, kSize, s + 7);  // given back before, and entered again since
  for (const uint64_t at : kPlaces) a.write(block + at, s + 2);
  EXPECT_EQ(findings.races.size(), 0U);
}

TEST_F(DetectLargeBlock, AccessesAreThereOnceItIsAccessedAgain) {
  a.write(block + 4096, s);
  main.allocate(block, kSize, s + 6);
  a.write(block + 4096, s + 1);
  b.write(block + 4096, s + 2);
  EXPECT_EQ(findings.races.size(), 1U);
}

TEST_F(DetectLargeBlock, AFreeMeetsEarlierAccessesAnywhere) {
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, uint64_t{5 * 4096 + 16}}) {
    SCOPED_TRACE(at);
    const std::size_t before = findings.races.size();
    a.write(block + at, s + static_cast<unsigned>(at % 4096 + at / 4096));
    b.free(block, kSize, s + 8);
    EXPECT_EQ(findings.races.size(), before + 1);
    main.allocate(block, kSize, s + 9);
  }
}

TEST_F(DetectLargeBlock, ALaterAccessMeetsTheFreeAtItsBeginning) {
  b.free(block, kSize, s + 8);
  a.read(block + 512, s);
  EXPECT_EQ(findings.races.size(), 1U);
}

TEST_F(DetectOrder, BothStacksAreTold) {
  a.enter(s + 10);
  a.enter(s + 11);
  a.write(&x, s);
  a.leave();
  a.leave();
  a.enter(s + 12);
  b.enter(s + 13);
  b.write(&x, s + 1);
  b.leave();
  ASSERT_EQ(findings.races.size(), 1U);
  const Race& race = findings.races[0];
  ASSERT_EQ(race.first.frames, 2U);
  EXPECT_EQ(race.first.stack[0], site(s + 11));
  EXPECT_EQ(race.first.stack[1], site(s + 10));
  ASSERT_EQ(race.second.frames, 1U);
  EXPECT_EQ(race.second.stack[0], site(s + 13));
}

TEST_F(DetectOrder, EverySiteOfOneSegmentCounts) {
  a.write(&x, s);
  a.write(&x, s + 1);
  a.write(&x, s + 2);
  a.write(&x, s);
  b.write(&x, s + 3);
  b.write(&x, s + 4);
  EXPECT_EQ(findings.races.size(), 6U);
}

TEST_F(DetectOrder, PartsOfACellAtAnotherSiteCountByThemselves) {
  auto* bytes = reinterpret_cast<char*>(&x);
  for (int i = 0; i < 8; ++i) a.write(bytes + i, s, 1);
  a.write(bytes, s, 4);      // known
  a.write(bytes, s + 1, 2);  // not known
  b.write(bytes + 4, s + 2, 1);
  EXPECT_EQ(findings.races.size(), 1U);
  b.write(bytes + 1, s + 3, 1);
  EXPECT_EQ(findings.races.size(), 3U);
}

TEST_F(DetectOrder, LocksTakenAgainAreTheSameSets) {
  const auto both = [&](int* p) {
    a.lock(&n, 700);
    a.lock(&m, 701);
    a.write(p, s);
    a.unlock(&m);
    a.unlock(&n);
  };
  const auto one = [&](int* p) {
    a.lock(&m, 701);
    a.write(p, s);
    a.unlock(&m);
  };
  for (int round = 0; round < 3; ++round) both(&x), one(&y);
  b.lock(&n, 702);
  b.write(&x, s + 1);
  expect_silent();
  b.write(&y, s + 1);
  b.unlock(&n);
  expect_one(Evidence::Witnessed);
}

TEST_F(DetectOrder, EverySiteAtRacyMemoryIsTold) {
  a.write(&x, s);
  b.write(&x, s + 1);
  b.read(&x, s + 2);
  b.read(&x, s + 3);
  main.lock(&m);
  main.read(&x, s + 4);
  main.unlock(&m);
  EXPECT_EQ(findings.sites.size(), 5U);
}

TEST_F(DetectOrder, EvidenceRises) {
  a.write(&x, s);
  a.lock(&m);
  a.unlock(&m);
  b.lock(&m);
  b.unlock(&m);
  b.write(&x, s + 1);
  a.write(&x, s);
  b.write(&x, s + 1);
  ASSERT_GE(findings.races.size(), 2U);
  EXPECT_EQ(findings.races.front().evidence, Evidence::Predicted);
  EXPECT_EQ(findings.races.back().evidence, Evidence::Witnessed);
  EXPECT_EQ(findings.races.front().id, findings.races.back().id);
}

TEST_F(DetectOrder, ByteLoopsKeepOneCell) {
  auto* bytes = reinterpret_cast<char*>(&x);
  a.read(bytes, s, 8);
  for (int i = 0; i < 8; ++i) b.read(bytes + i, s + 1, 1);
  main.write(bytes, s + 2, 1);  // evicted nobody: both readers are there
  EXPECT_EQ(findings.races.size(), 2U);
}

TEST_F(DetectOrder, OfOneSegmentTheFirstSiteMayCountAlone) {
  a.count_first_sites();
  a.write(&x, s);
  a.write(&x, s + 1);
  a.read(&x, s + 2);
  b.write(&x, s + 3);
  std::set<uintptr_t> sites;
  for (const Race& race : findings.races) sites.insert(race.first.pc);
  EXPECT_EQ(sites, (std::set<uintptr_t>{site(s), site(s + 2)})) << "one of each kind";
  a.write(&y, s + 4);
  a.notify(&flag);
  a.write(&y, s + 5);
  a.write(&y, s + 4);
  findings.races.clear();
  b.write(&y, s + 6);
  ASSERT_EQ(findings.races.size(), 1U);
  EXPECT_EQ(findings.races[0].first.pc, site(s + 5)) << "another segment has a first site of its own";
}

// Cells tell 2^21 segments of a thread apart: what is older must not be taken for something young.
TEST_F(DetectOrder, SegmentsThatLookLikeOldOnesAreNone) {
  const auto age = [&](uint64_t segments) {
    for (uint64_t i = 0; i < segments; ++i) a.notify(&m);
  };
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) a.write(&memory[2 * round], s);
  a.notify(&flag);
  b.wake(&flag);  // b knows of the writes
  for (int round = 0; round < kRounds; ++round) {
    age((1u << 19) + 3);
    b.write(&memory[2 * round], s + 1);
  }
  expect_silent();
  a.write(&y, s + 2);
  age(10);
  b.write(&y, s + 3);
  expect_one(Evidence::Witnessed);
  EXPECT_EQ(findings.races[0].first.thread, a.index());
}

TEST(Granules, AnAccessIsKnownWhereOneCellHasAllOfItOrAReadIsOfWhatTheThreadWrote) {
  std::mt19937_64 random(7);
  const auto some_cell = [&] {
    const uint64_t bytes[] = {0x0f, 0xf0, 0xff, 0x01};
    const uint64_t kinds[] = {0, kWrite, kAtomic};
    return cell_base(random() % 2, 1 + random() % 2) | bytes[random() % 4] | kinds[random() % 3] |
           (random() % 3) << kPlaceShift;
  };
  int known = 0;
  for (int round = 0; round < 20000; ++round) {
    Granule granule = {};
    for (uint64_t& cell : granule.cell)
      if (random() % 4 != 0) cell = some_cell();
    const uint64_t asked = some_cell() & ~(kPlaceField | kAtomic);
    const bool writes = (asked & kWrite) != 0;
    bool expected = false;
    for (const uint64_t cell : granule.cell) {
      const uint64_t differs = (cell ^ asked) & kSameStep;
      expected =
          expected || ((differs == 0 || (!writes && differs == kWrite)) && (asked & ~cell & kBytes) == 0);
    }
    ASSERT_EQ(writes ? is_known<kWrite>(granule, asked) : is_known<0>(granule, asked), expected) << round;
    known += expected;
  }
  EXPECT_GT(known, 1000);
  EXPECT_LT(known, 19000);
}

}  // namespace
}  // namespace simrt::rt::detect
