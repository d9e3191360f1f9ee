// What keeps two accesses to the same bytes from racing, and what is done where nothing does.
#pragma once

#include "detect/shadow.h"
#include "detect/thread.h"

namespace simrt::rt::detect {

inline bool conflict(uint64_t a, uint64_t b) {
  return (a & b & kBytes) != 0 && ((a | b) & kWrite) != 0 && (a & b & kAtomic) == 0;
}

/// Two atomics never race, but one that sees the other's value under a lock got it by that lock.
inline bool passes_on(uint64_t a, uint64_t b) {
  return (a & b & kBytes) != 0 && ((a | b) & kWrite) != 0 && (a & b & kAtomic) != 0;
}

/// Whether the thread comes after that access in every schedule.
inline bool is_ordered(const Thread& thread, uint64_t other) {
  return thread.clock[Hard][slot_of(other)] >= segment_of(other);
}

/// Whether the thread holds no lock that was not held at its earlier access `old`.
inline bool locks_cover(const Thread& thread, uint64_t old) {
  if (thread.lockset == kNoLocks) return true;
  const LockSet then = lockset_of(old);
  return then == thread.lockset || included(thread.lockset, then);
}

/// A later conflict with `old` would be one with the thread's `next` as well, made by the same thread or
/// ordered after it.
inline bool covers(const Thread& thread, uint64_t next, uint64_t old) {
  return (old & kBytes & ~next) == 0 && ((next & kWrite) != 0 || (old & kWrite) == 0) &&
         (((next ^ old) & kAtomic) == 0 || (next & kAtomic) == 0) && (old & kRelease & ~next) == 0 &&
         locks_cover(thread, old);
}

/// Whether a common lock keeps the thread's present accesses and the other one apart. Notes that what it
/// handed over may depend on that.
bool look_apart(Thread& thread, uint64_t other, KeptApart& known);
inline uint32_t kept_apart_at(uint64_t other) {
  return static_cast<uint32_t>(segment_of(other) + slot_of(other)) % Thread::kKeptApart;
}
/// Whether that is remembered.
inline bool is_known_apart(const Thread& thread, uint64_t other) {
  const KeptApart& known = thread.kept_apart[kept_apart_at(other)];
  return known.segment == segment_of(other) && known.slot == slot_of(other) && known.mine == thread.lockset;
}
/// The same, or whether it is known from another access under these locks; both of a thread that has some.
inline bool is_surely_apart(const Thread& thread, uint64_t other) {
  return is_known_apart(thread, other) || (thread.apart.kept && thread.apart.mine == thread.lockset &&
                                           thread.apart.others == lockset_of(other) &&
                                           thread.clock[Data][slot_of(other)] >= segment_of(other));
}
inline bool is_kept_apart(Thread& thread, uint64_t other) {
  if (thread.lockset == kNoLocks) return false;
  return is_known_apart(thread, other) || look_apart(thread, other, thread.kept_apart[kept_apart_at(other)]);
}

/// `cell` of the thread and `other` conflict, and no order that stays is between them: reports a race, if no
/// lock is either.
void check(Thread& thread, uint64_t cell, uint64_t other, uintptr_t word);

/// Whether no other thread's access asks for a closer look: all that conflict are ordered before this one, or
/// a lock keeps them apart. `foreign`: the cells to look at.
bool is_settled(Thread& thread, const Granule& granule, uint32_t foreign, uint64_t cell);

}  // namespace simrt::rt::detect
