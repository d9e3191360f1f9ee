// Random plays of two or three threads against vector clocks kept the plain way: one entry for every access,
// a whole clock for every synchronisation object, nothing remembered, nothing left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

constexpr int kMostWorkers = 3;
using Times = std::array<std::uint64_t, kMostWorkers>;

void join(Times& into, const Times& from) {
  for (int i = 0; i < kMostWorkers; ++i) into[i] = std::max(into[i], from[i]);
}

/// What ordered the play: happens-before, lock hand-overs included.
class Oracle {
 public:
  /// Whether the access to [begin, end) races with an earlier one.
  bool access(int worker, std::uint32_t begin, std::uint32_t end, bool write, bool atomic) {
    const bool races = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& earlier) {
      return earlier.worker != worker && earlier.begin < end && begin < earlier.end &&
             (earlier.write || write) && !(earlier.atomic && atomic) &&
             earlier.time > known_[worker][earlier.worker];
    });
    accesses_.push_back({worker, begin, end, write, atomic, known_[worker][worker]});
    return races;
  }
  void acquire(int worker, const Times& object) { join(known_[worker], object); }
  void release(int worker, Times& object) {
    join(object, known_[worker]);
    ++known_[worker][worker];
  }
  void store_release(int worker, Times& object) {
    object = {};
    release(worker, object);
  }

 private:
  struct Access {
    int worker;
    std::uint32_t begin, end;
    bool write, atomic;
    std::uint64_t time;
  };
  std::array<Times, kMostWorkers> known_ = {Times{1, 0, 0}, Times{0, 1, 0}, Times{0, 0, 1}};
  std::vector<Access> accesses_;
};

/// `first_sites`: as where Options::every_site is not set. `in_sections`: some accesses are made under locks.
/// `parts`: accesses of all sizes to parts of two words, several in a segment. `atomics`: some accesses are
/// relaxed atomic ones. With two workers, outside of sections and without parts a granule has room for all
/// that counts, and nothing may go unnoticed; elsewhere hardly any word with a race may.
struct Form {
  const char* name;
  bool first_sites, in_sections;
  int workers = 2;
  bool parts = false, atomics = false;

  bool is_exact() const { return !in_sections && workers == 2 && !parts && !atomics; }
};

class RandomPlay : Play {
 public:
  RandomPlay(std::uint64_t seed, const Form& form) : random_(seed), form_(form) {
    for (int i = 0; i < form.workers; ++i) workers_.push_back(Actor::main().create());
    if (form.first_sites)
      for (Actor& worker : workers_) worker.count_first_sites();
  }
  ~RandomPlay() {
    for (Actor& worker : workers_) {
      worker.end();
      Actor::main().join(worker);
    }
  }
  RandomPlay(const RandomPlay&) = delete;
  RandomPlay& operator=(const RandomPlay&) = delete;

  void run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(step);
      if (random_() % 8 == 0)  // stretches of one thread, as in life
        who_ = (who_ + 1 + static_cast<int>(random_() % (workers_.size() - 1))) % form_.workers;
      if (random_() % 2 == 0) {
        access();
      } else {
        synchronise();
      }
    }
  }

  /// Words with races, and those of them that were told of.
  int racy_words() const { return static_cast<int>(std::count(racy_.begin(), racy_.end(), true)); }
  int told_words() const {
    int count = 0;
    for (std::size_t word = 0; word < racy_.size(); ++word) count += racy_[word] && told_[word] ? 1 : 0;
    return count;
  }

 private:
  static constexpr std::uint32_t kWords = 3, kWordAt[kWords] = {0, 64, 192};  // in bytes; `flag` lies between

  void access() {
    std::uint32_t word = random_() % kWords, begin = kWordAt[word], size = 4;
    if (form_.parts) {
      word = random_() % 2;
      size = 1u << random_() % 4;
      begin = kWordAt[word] + static_cast<std::uint32_t>(random_() % (8 / size)) * size;
    }
    const bool write = random_() % 3 == 0, atomic = form_.atomics && random_() % 3 == 0;
    if (atomic) size = 4, begin &= ~3u;
    // Where first sites count, a segment's second access of a kind is not looked at.
    if (form_.first_sites && !form_.parts) release_to(&own_[who_], own_times_[who_]);
    const bool expected = oracle_.access(who_, begin, begin + size, write, atomic);
    const std::size_t before = findings.count(Evidence::Witnessed);
    const auto* where = reinterpret_cast<const char*>(memory) + begin;
    Actor& worker = workers_[who_];
    if (atomic) {
      write ? worker.store(where, Order::Relaxed, site_) : worker.load(where, Order::Relaxed, site_);
    } else {
      write ? worker.write(where, site_, size) : worker.read(where, site_, size);
    }
    if (!form_.parts || random_() % 2 == 0) ++site_;  // else another turn of a loop
    const bool told = findings.count(Evidence::Witnessed) > before;
    EXPECT_TRUE(told == expected || (expected && !form_.is_exact()))
        << (write ? "write of " : "read of ") << size << " bytes at " << begin << " by " << who_;
    racy_[word] = racy_[word] || expected;
    told_[word] = told_[word] || told;
  }

  void access_inside() {
    if (form_.in_sections && random_() % 2 == 0) access();
  }

  void release_to(const void* object, Times& times) {
    workers_[who_].notify(object);
    oracle_.release(who_, times);
  }

  void synchronise() {
    Actor& worker = workers_[who_];
    switch (random_() % 7) {
      case 0:
      case 1:
        worker.lock(&m);
        oracle_.acquire(who_, mutex_);
        access_inside();
        worker.unlock(&m);
        return oracle_.release(who_, mutex_);
      case 2:
        worker.lock_shared(&n);
        oracle_.acquire(who_, writers_);
        access_inside();
        worker.unlock_shared(&n);
        return oracle_.release(who_, readers_);
      case 3:
        worker.lock(&n);
        oracle_.acquire(who_, writers_);
        oracle_.acquire(who_, readers_);
        access_inside();
        worker.unlock(&n);
        return oracle_.release(who_, writers_);
      case 4:
        worker.update(&flag, Order::AcquireRelease);
        oracle_.acquire(who_, atomic_);
        return oracle_.release(who_, atomic_);
      case 5:
        worker.store(&flag, Order::Release);
        return oracle_.store_release(who_, atomic_);
      default:
        worker.load(&flag, Order::Acquire);
        return oracle_.acquire(who_, atomic_);
    }
  }

  std::mt19937_64 random_;
  Form form_;
  std::vector<Actor> workers_;
  std::array<bool, kWords> racy_ = {}, told_ = {};
  int who_ = 0;
  static inline unsigned site_ = 5000;
  Oracle oracle_;
  int own_[kMostWorkers] = {};
  Times own_times_[kMostWorkers] = {}, mutex_ = {}, writers_ = {}, readers_ = {}, atomic_ = {};
};

class DetectOracle : public testing::TestWithParam<Form> {};

TEST_P(DetectOracle, TellsOfTheAccessesThatNothingOrdered) {
  int racy = 0, told = 0;
  const std::uint64_t plays = GetParam().is_exact() ? 200 : 60;  // the table of pairs has no room for more
  for (std::uint64_t seed = 0; seed < plays && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomPlay play(seed, GetParam());
    play.run(60);
    racy += play.racy_words();
    told += play.told_words();
  }
  EXPECT_GT(racy, 80);
  EXPECT_GE(told * 100, racy * (GetParam().is_exact() ? 100 : 95)) << told << " of " << racy;
}

INSTANTIATE_TEST_SUITE_P(, DetectOracle,
                         testing::Values(Form{"EverySite", false, false}, Form{"FirstSites", true, false},
                                         Form{"EverySiteUnderLocks", false, true},
                                         Form{"FirstSitesUnderLocks", true, true},
                                         Form{"EverySiteOfThree", false, true, 3},
                                         Form{"FirstSitesOfThree", true, true, 3},
                                         Form{"EverySiteOfParts", false, true, 2, true},
                                         Form{"FirstSitesOfParts", true, true, 2, true},
                                         Form{"FirstSitesOfPartsOfThree", true, true, 3, true},
                                         Form{"EverySiteWithAtomics", false, true, 2, false, true},
                                         Form{"FirstSitesWithAtomics", true, true, 2, false, true},
                                         Form{"FirstSitesOfPartsWithAtomics", true, true, 3, true, true}),
                         [](const auto& form) { return form.param.name; });

}  // namespace
}  // namespace simrt::rt::detect
