// Accesses of one thread that belong together although it let go of the lock between them, and another
// thread's that could come between with an outcome that no serial order has (Lu, Tucek, Qin, Zhou: AVIO,
// ASPLOS 2006; patterns 4 to 8 of MAP coverage: R-W-R, W-W-R, W-R-W, R-W-W, W-W-W on one variable).
//
// What belongs together is a guess, and so is the finding: two accesses of one variable in different critical
// sections of one function, or of functions that it calls, the second one further down in the code (turns of
// a loop do not belong together). All three under locks: what is not is a race. Atomics are left out: a cell
// does not say whether a store was conditional, and a load before a compare-exchange is how it is done.
#pragma once

#include <stdint.h>

#include "detect/race.h"
#include "detect/thread.h"

namespace simrt::rt::detect {

bool make_atomicity();

// Pairs of accesses that belong together are kept in a table by word. Whose a pair is, as far as it fits in a
// byte, for writes that may come between; for reads, which must only not come between two writes, the same of
// pairs of those. 0 = there is none.
inline constexpr unsigned kLocalBits = 14;
inline constexpr uint32_t kLocals = 1u << kLocalBits;
extern uint8_t local_marks[kLocals], local_write_marks[kLocals];
inline uint32_t local_number(uintptr_t word) { return near_index(word >> 3, kLocalBits); }
inline uint8_t local_mark(uint32_t slot) { return static_cast<uint8_t>(slot < 254 ? slot + 1 : 255); }
/// False: the thread's access `cell` is not one between two of another's with an outcome of its own.
inline bool may_come_between(const Thread& thread, uint64_t cell, uintptr_t word) {
  const uint8_t* marks = (cell & kWrite) != 0 ? local_marks : local_write_marks;
  const uint8_t mark = __atomic_load_n(&marks[local_number(word)], __ATOMIC_RELAXED);
  return mark != 0 && (mark == 255 || mark != local_mark(thread.slot));
}

extern uint32_t backwards_known;  // ways back in the code that have been seen, and one
bool look_together(Thread& thread, Together& memo, uint64_t earlier, uint64_t now);
/// Whether the accesses of two cells belong together. Most have been asked about before.
inline bool belong_together(Thread& thread, uint64_t earlier, uint64_t now) {
  const Place first = place_of(earlier), second = place_of(now);
  if (earlier == 0 || first == second) return false;  // one place is a turn of a loop, or another call
  Together& memo = thread.together[(first * 31 + second) % Thread::kTogether];
  const uint32_t version = __atomic_load_n(&backwards_known, __ATOMIC_RELAXED);
  if (memo.version == version && memo.first == first && memo.second == second) [[likely]]
    return memo.pair;
  return look_together(thread, memo, earlier, now);
}

/// Whether it is remembered that they do not.
inline bool surely_unrelated(const Thread& thread, uint64_t earlier, uint64_t now) {
  const Place first = place_of(earlier), second = place_of(now);
  if (earlier == 0 || first == second) return true;
  const Together& memo = thread.together[(first * 31 + second) % Thread::kTogether];
  return memo.version == __atomic_load_n(&backwards_known, __ATOMIC_RELAXED) && memo.first == first &&
         memo.second == second && !memo.pair;
}

void note_locked_slowly(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site,
                        uint64_t before, bool pair);
/// `thread`, under a lock, makes an access of `word`. Before it is entered. `before`: the cell of its latest
/// plain access of some of the same bytes in an earlier segment; 0: there is none.
inline void note_locked(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site,
                        uint64_t before) {
  if ((cell & (kAtomic | kRelease)) != 0 || thread.reporting || thread.busy) return;
  const bool pair = belong_together(thread, before, cell);
  if (pair || may_come_between(thread, cell, word))
    note_locked_slowly(thread, granule, cell, word, site, before, pair);
}

/// Whether accesses of the thread are to be noted at all.
inline bool notes_locked(const Thread& thread) { return thread.lockset != kNoLocks && options.atomicity; }

/// How many segments of its thread ago the access was made.
inline uint64_t age_of(const Thread& thread, uint64_t own) {
  return (thread.segment - segment_number(own)) % (uint64_t{1} << kSegmentBits);
}

/// The later one of `latest` (0: none) and `own`, if that is a plain access of the thread to some of the
/// bytes of `now` in an earlier segment.
inline uint64_t later_before(const Thread& thread, uint64_t latest, uint64_t own, uint64_t now) {
  if ((own & kAtomic) != 0 || (own & now & kBytes) == 0) return latest;
  const uint64_t age = age_of(thread, own);
  return age != 0 && (latest == 0 || age < age_of(thread, latest)) ? own : latest;
}

void atomicity_fork_child();

}  // namespace simrt::rt::detect
