// What the detector finds, and whom it tells.
#pragma once

#include <stdint.h>

namespace simrt::rt::detect {

/// How much an execution says about two accesses; see clock.h for the orders.
enum class Evidence : uint8_t {
  Possible = 1,   // ordered only by the hand-over of a lock under which they (may) have passed data on
  Predicted = 2,  // ordered only by hand-overs of locks under which no data passed
  Witnessed = 3,  // not ordered at all: they raced in this execution
};

inline constexpr uint32_t kMostStack = 64;

struct LockHeld {
  uintptr_t lock;
  bool shared;
  uintptr_t pc;  // where it was acquired
  uint32_t frames;
  uintptr_t stack[kMostStack];  // return addresses behind pc, innermost first
};

struct Side {
  uint32_t thread;
  uintptr_t pc;
  uintptr_t address;
  uint32_t size;
  bool write, atomic, release_of_memory;
  bool locks_known;
  uint32_t frames, locks;
  // Return addresses behind pc, innermost first. Where several sites touched the memory in one segment: a way
  // on which this execution came to the site, not always this time.
  uintptr_t stack[kMostStack];
  LockHeld held[8];  // the first ones
};

/// The heap block around an address; size 0 = none known.
struct Block {
  uintptr_t address;
  uint64_t size;
  uint32_t thread;
  uintptr_t pc;
  uint32_t frames;
  uintptr_t stack[kMostStack];
};

/// Each pair of sites (and kinds of access) once, and again when the evidence rises: same `id`.
struct Race {
  uint32_t id;
  Evidence evidence;
  Side first, second;  // in the order in which they happened
  Block block;
};

/// One thread of a cycle: it held `held` and asked for `wanted`.
struct CycleEdge {
  uint32_t thread;
  LockHeld held, wanted;  // wanted.pc and stack: where it asked
};
inline constexpr uint32_t kLongestCycle = 6;
struct LockCycle {
  uint32_t id;
  uint32_t count;
  CycleEdge edges[kLongestCycle];
};

/// Two (or, for two variables, two) accesses of one thread with those of another that could come between.
struct Unserialisable {
  uint32_t id;
  uint32_t pattern;  // number of the memory access pattern, 4 to 17
  uint32_t count;    // 3 or 4
  Side accesses[4];  // in the order of the pattern
};

/// An access, whoever made it, to memory with a race on it.
struct RacySite {
  uint32_t race;  // id of the first race that was found on the memory
  uint32_t thread;
  uintptr_t pc;
  uintptr_t address;
  uint32_t size;
  bool write, atomic;
};

/// Called under a lock of the detector, one finding of a kind at a time. Must not call back into the
/// detector.
class Sink {
 public:
  virtual void race(const Race& race) = 0;
  virtual void racy_site(const RacySite& site) = 0;
  virtual void lock_cycle(const LockCycle& cycle) = 0;
  virtual void unserialisable(const Unserialisable& triple) = 0;
  /// The thread of a finding has also come from its second access to its first: turns of a loop, perhaps.
  virtual void doubt(uint32_t unserialisable) = 0;

 protected:
  ~Sink() = default;  // never owned
};

}  // namespace simrt::rt::detect
