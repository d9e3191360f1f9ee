// A play of threads on one thread: the detector in this process, told what each of them does in a fixed
// order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "detect/atomic.h"
#include "detect/detector.h"

namespace simrt::rt::detect {

/// Collects what was found since the last reset().
struct Findings final : Sink {
  std::vector<Race> races;
  std::vector<RacySite> sites;
  std::vector<LockCycle> cycles;
  std::vector<Unserialisable> triples;
  std::vector<uint32_t> doubts;

  void race(const Race& found) override { races.push_back(found); }
  void racy_site(const RacySite& found) override { sites.push_back(found); }
  void lock_cycle(const LockCycle& found) override { cycles.push_back(found); }
  void unserialisable(const Unserialisable& found) override { triples.push_back(found); }
  void doubt(uint32_t found) override { doubts.push_back(found); }

  /// Races with at least this evidence.
  std::size_t count(Evidence least) const;
};

/// A thread of the play.
class Actor {
 public:
  static Actor& main();
  Actor create();
  static Actor appear();  ///< whose creation nobody saw
  void join(const Actor& other);
  void end();

  void read(const void* p, unsigned site, uint32_t size = 4);
  void write(const void* p, unsigned site, uint32_t size = 4);
  void lock(const void* lock, unsigned site = 900);
  void unlock(const void* lock);
  void lock_shared(const void* lock, unsigned site = 901);
  void unlock_shared(const void* lock);
  void try_lock(const void* lock, unsigned site = 902);
  void notify(const void* object);
  void wake(const void* object);
  void load(const void* p, Order order, unsigned site = 910);
  void store(const void* p, Order order, unsigned site = 911);
  void update(const void* p, Order order, unsigned site = 912);
  void fence(Order order);
  void allocate(const void* p, uint64_t size, unsigned site = 920);
  void free(const void* p, uint64_t size, unsigned site = 921);
  void enter(unsigned site);
  void leave();
  void count_first_sites();  ///< as where Options::every_site is not set
  /// As with Options::watch, of this thread's atomics. Null: all.
  void watch_only(const Watch* watch);
  uint32_t index() const { return index_; }

 private:
  void begin();
  template <class Act>
  void act(Act act);

  Thread* state_ = nullptr;
  uint32_t index_ = 0;
  uintptr_t stack_ = uintptr_t{1} << 40;
};

extern Findings findings;

/// The n-th site: an address inside the text of this program.
uintptr_t site(unsigned n);

/// A test starts with nothing found, and with memory of its own.
struct Play {
  Play();
  alignas(64) int memory[64] = {};
  int& x = memory[0];
  int& y = memory[16];
  int& flag = memory[32];
  uint64_t locks[64] = {};
  uint64_t &m = locks[0], &n = locks[8], &o = locks[16];
};

}  // namespace simrt::rt::detect
