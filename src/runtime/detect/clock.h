// Vector clocks over segments, and the three orders that the detector keeps.
//
// A segment is a stretch of one thread between two of its synchronisation operations; clocks say, for every
// thread slot, up to which of its segments the owner of the clock knows. Three orders, each contained in the
// one before:
//
//   Full  everything that ordered this execution, lock hand-overs included: happens-before. Conflicting
//         accesses that it does not order raced in this execution.
//   Data  without hand-overs of locks whose critical sections share no conflicting access. What the later
//         section cannot have seen may as well have come the other way round (Kini, Mathur, Viswanathan:
//         Dynamic Race Prediction in Linear Time, PLDI 2017: weak-causally-precedes; our approximation keeps
//         one clock a lock instead of one a critical section, so it orders more, never less).
//   Hard  no lock hand-over at all, only what orders every execution that takes the same steps: creation,
//         join, notification, semaphore, barrier, once flag, release and acquire of atomics.
#pragma once

#include <stdint.h>

#include "detect/pool.h"
#include "detect/shadow.h"

namespace simrt::rt::detect {

enum OrderKind : uint32_t { Full, Data, Hard, kOrders };

/// One past the highest slot in use; no clock is longer.
extern uint32_t slots_used;

/// A clock of a synchronisation object; the owner's lock guards it. Shorter than slots_used = zeros behind.
struct Clock {
  uint64_t* segments = nullptr;
  uint32_t size = 0;

  /// Component-wise maximum with `other[0 .. count)`. Without memory the order is lost (never invented).
  void join(const uint64_t* other, uint32_t count);
  void join(const Clock& other) { join(other.segments, other.size); }
  void raise(uint32_t slot, uint64_t segment);
  void clear() {
    for (uint32_t i = 0; i < size; ++i) segments[i] = 0;
  }
  void release() {
    give_back(segments, size * sizeof(uint64_t));
    segments = nullptr;
    size = 0;
  }
  bool empty() const { return size == 0; }

 private:
  bool grow(uint32_t count);
};

/// Component-wise maximum into a thread's own clock, which has room for kSlots.
inline void join_into(uint64_t* own, const Clock& other) {
  for (uint32_t i = 0; i < other.size; ++i) own[i] = own[i] > other.segments[i] ? own[i] : other.segments[i];
}

/// A thread's clocks at the end of one of its segments.
struct Publisher {
  uint64_t segment = 0;  // 0 = nobody's
  uint32_t slot = 0;
  uint32_t knowledge = 0;  // Thread::knowledge then
};

/// The three clocks that a release publishes.
struct Clocks {
  // Whose clocks these are: nobody has to look at them who knows of that segment. Its own component, which
  // changes with each release, is here and may not be in `of`.
  Publisher only;
  bool mixed = false;  // they are of several threads
  Clock of[kOrders];

  void clear() {
    for (auto& clock : of) clock.clear();
    only = {};
    mixed = false;
  }
  void release() {
    for (auto& clock : of) clock.release();
  }
  /// Puts all components into `of`.
  void settle() {
    for (uint32_t i = 0; i < kOrders; ++i) raise_by(i, only);
  }
  void join(const Clocks& other) {
    mix();
    for (uint32_t i = 0; i < kOrders; ++i) {
      of[i].join(other.of[i]);
      raise_by(i, other.only);
    }
  }
  void mix() {
    settle();
    only = {};
    mixed = true;
  }

 private:
  void raise_by(uint32_t order, const Publisher& publisher) {
    if (publisher.segment != 0) of[order].raise(publisher.slot, publisher.segment);
  }
};

/// Joins one of the published clocks into a thread's own.
inline void join_into(uint64_t* own, const Clocks& published, OrderKind order) {
  join_into(own, published.of[order]);
  const Publisher& only = published.only;
  if (own[only.slot] < only.segment) own[only.slot] = only.segment;
}

}  // namespace simrt::rt::detect
