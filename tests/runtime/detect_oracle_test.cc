// Random plays of two threads against vector clocks kept the plain way: one entry for every access, a whole
// clock for every synchronisation object, nothing remembered, nothing left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "detect_sim.h"

namespace simrt::rt::detect {
namespace {

constexpr int kWorkers = 2;
using Times = std::array<std::uint64_t, kWorkers>;

void join(Times& into, const Times& from) {
  for (int i = 0; i < kWorkers; ++i) into[i] = std::max(into[i], from[i]);
}

/// What ordered the play: happens-before, lock hand-overs included.
class Oracle {
 public:
  /// Whether the access races with an earlier one.
  bool access(int worker, int variable, bool write) {
    const bool races = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& earlier) {
      return earlier.worker != worker && earlier.variable == variable && (earlier.write || write) &&
             earlier.time > known_[worker][earlier.worker];
    });
    accesses_.push_back({worker, variable, write, known_[worker][worker]});
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
    int worker, variable;
    bool write;
    std::uint64_t time;
  };
  std::array<Times, kWorkers> known_ = {Times{1, 0}, Times{0, 1}};
  std::vector<Access> accesses_;
};

/// `first_sites`: as where Options::every_site is not set. `in_sections`: some accesses are made under locks.
/// Then a granule has not room for all that counts, and something may go unnoticed; elsewhere nothing may.
struct Form {
  const char* name;
  bool first_sites, in_sections;
};

class RandomPlay : Play {
 public:
  RandomPlay(std::uint64_t seed, const Form& form) : random_(seed), form_(form) {
    workers_ = {Actor::main().create(), Actor::main().create()};
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
      if (random_() % 8 == 0) who_ = 1 - who_;  // stretches of one thread, as in life
      if (random_() % 2 == 0) {
        access();
      } else {
        synchronise();
      }
    }
  }

 private:
  void access() {
    const int variable = static_cast<int>(random_() % 3);
    const bool write = random_() % 3 == 0;
    // Where first sites count, a segment's second access of a kind is not looked at.
    if (form_.first_sites) release_to(&own_[who_], own_times_[who_]);
    const bool expected = oracle_.access(who_, variable, write);
    const std::size_t before = findings.count(Evidence::Witnessed);
    int& where = *std::array{&x, &y, &memory[48]}[static_cast<std::size_t>(variable)];
    if (write) {
      workers_[who_].write(&where, site_++);
    } else {
      workers_[who_].read(&where, site_++);
    }
    const bool told = findings.count(Evidence::Witnessed) > before;
    EXPECT_TRUE(told == expected || (expected && form_.in_sections))
        << (write ? "write of " : "read of ") << variable << " by " << who_;
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
  std::array<Actor, kWorkers> workers_;
  int who_ = 0;
  static inline unsigned site_ = 5000;
  Oracle oracle_;
  int own_[kWorkers] = {};
  Times own_times_[kWorkers] = {}, mutex_ = {}, writers_ = {}, readers_ = {}, atomic_ = {};
};

class DetectOracle : public testing::TestWithParam<Form> {};

TEST_P(DetectOracle, TellsOfTheAccessesThatNothingOrdered) {
  std::size_t witnessed = 0;
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomPlay(seed, GetParam()).run(60);
    witnessed += findings.count(Evidence::Witnessed);
  }
  EXPECT_GT(witnessed, 1000U);
}

INSTANTIATE_TEST_SUITE_P(, DetectOracle,
                         testing::Values(Form{"EverySite", false, false}, Form{"FirstSites", true, false},
                                         Form{"EverySiteUnderLocks", false, true},
                                         Form{"FirstSitesUnderLocks", true, true}),
                         [](const auto& form) { return form.param.name; });

}  // namespace
}  // namespace simrt::rt::detect
