// One access of a free run that watches everything: the first site of a kind of access in a segment counts,
// and no barrier sees to it that two threads which are there at the same moment see each other.
#include "detect/access.h"
#include "detect/atomicity.h"
#include "detect/conflict.h"
#include "detect/race.h"
#include "detect/survey.h"

namespace simrt::rt::detect {
namespace {

[[gnu::noinline]] void note_under_locks(Thread& thread, Granule& granule, uint32_t own, uint64_t cell,
                                        uintptr_t word, Site site) {
  uint64_t earlier = 0;
  for (; own != 0; own &= own - 1)
    earlier = later_before(thread, earlier,
                           __atomic_load_n(&granule.cell[__builtin_ctz(own)], __ATOMIC_RELAXED), cell);
  note_locked(thread, granule, cell, word, site, earlier);
}

// A cell of this step that has the access already, or can take up its bytes (it was made at the same place).
// kCells: there is none.
struct OfThisStep {
  uint32_t at = Granule::kCells;
  uint64_t cell = 0;
};
inline OfThisStep of_this_step(const Granule& granule, uint32_t own, uint64_t cell) {
  for (; own != 0; own &= own - 1) {
    const auto i = static_cast<uint32_t>(__builtin_ctz(own));
    const uint64_t there = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
    const bool has_bytes = (cell & ~there & kBytes) == 0, same_place = ((there ^ cell) & kPlaceField) == 0;
    if (((there ^ cell) & kSameStep) == 0 && (has_bytes || same_place)) return {i, there};
  }
  return {};
}

// The first of these cells from `first` on, around.
uint32_t next_in(uint32_t cells, uint32_t first) {
  const uint32_t twice = cells | cells << Granule::kCells;
  return (static_cast<uint32_t>(__builtin_ctz(twice >> first)) + first) % Granule::kCells;
}

// Whose place an access takes that has found no room: something that it comes after and that it says as well;
// else an own one of this segment, for what others do after it is ordered alike; else anybody's.
uint32_t whom_to_push_out(const Thread& thread, const Granule& granule, uint32_t own, uint64_t cell) {
  uint32_t of_this_segment = 0;
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const uint64_t old = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
    if ((own >> i & 1) != 0) {
      of_this_segment |= uint32_t{segment_number(old) == segment_number(cell)} << i;
    } else if (is_ordered(thread, old) && covers(thread, cell, old)) {
      return i;
    }
  }
  if (of_this_segment != 0) return next_in(of_this_segment, first_cell(thread));
  return static_cast<uint32_t>((cell >> kSegmentShift) + (cell >> 8)) % Granule::kCells;
}

// Where the thread's own earlier accesses say no more than this one: puts it in the place of one, and takes
// the others away, so that they push out nobody. Else where there is nothing, or where least is lost.
void enter_where_room_is(Thread& thread, Granule& granule, const Survey& found, uint64_t cell) {
  uint32_t at = Granule::kCells;
  for (uint32_t rest = found.within; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<uint32_t>(__builtin_ctz(rest));
    uint64_t old = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
    if (((old ^ cell) & kSlotBits) != 0 || segment_number(old) == segment_number(cell) ||
        !locks_cover(thread, old))
      continue;
    if (at == Granule::kCells) {
      at = i;
    } else {
      __atomic_compare_exchange_n(&granule.cell[i], &old, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
  }
  if (at == Granule::kCells)
    at = found.empty != 0 ? next_in(found.empty, first_cell(thread))
                          : whom_to_push_out(thread, granule, found.own, cell);
  put(granule, at, cell);
}

// is_settled(), as far as it is remembered.
inline bool is_surely_settled(const Thread& thread, const Granule& granule, uint32_t foreign) {
  for (; foreign != 0; foreign &= foreign - 1) {
    const uint64_t other = __atomic_load_n(&granule.cell[__builtin_ctz(foreign)], __ATOMIC_RELAXED);
    if (!is_ordered(thread, other) && (thread.lockset == kNoLocks || !is_surely_apart(thread, other)))
      return false;
  }
  return true;
}

// Whether note_locked() of an access after the thread's `earlier` has more to do than to ask what it
// remembers.
inline bool is_to_be_noted(const Thread& thread, uint64_t earlier, uint64_t cell, uintptr_t word) {
  return (cell & (kAtomic | kRelease)) == 0 && options.atomicity &&
         (may_come_between(thread, cell, word) || !surely_unrelated(thread, earlier, cell));
}

[[gnu::noinline]] void note_and_put(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word,
                                    Site site, uint64_t earlier, uint32_t at) {
  note_locked(thread, granule, cell, word, site, earlier);
  put(granule, at, cell);
}

// What record_here() does for a thread that holds locks. Apart: it needs more registers.
[[gnu::noinline]] void record_under_locks(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word,
                                          Site site) {
  const Seen seen(granule);
  const Survey found = survey(seen, cell);
  if (found.alike == 0 || !is_surely_settled(thread, granule, found.foreign) || has_had_race(word))
    return record_first(thread, granule, cell, word, site);
  const auto at = static_cast<uint32_t>(__builtin_ctz(found.alike));
  const uint64_t before = __atomic_load_n(&granule.cell[at], __ATOMIC_RELAXED);
  if (((before ^ cell) & kSlotBits) != 0 || ((before ^ cell) & kSameStep) == 0 ||
      lockset_of(before) != thread.lockset)
    return record_first(thread, granule, cell, word, site);
  uint32_t own = found.own & ~found.empty;
  uint64_t earlier = before;
  for (own &= ~(1u << at); own != 0; own &= own - 1)
    earlier = later_before(thread, earlier,
                           __atomic_load_n(&granule.cell[__builtin_ctz(own)], __ATOMIC_RELAXED), cell);
  if (is_to_be_noted(thread, earlier, cell, word))
    return note_and_put(thread, granule, cell, word, site, earlier, at);
  put(granule, at, cell);
}

// Nearly all accesses end here, with what record_first() would do: nobody has been there, or what others did
// is known to be settled, and the thread itself made the same access in an earlier segment or all of its own
// in this one. The last thing that is done is a call or none, so that few registers are saved.
[[gnu::always_inline]] inline void record_here(Thread& thread, Granule& granule, uint64_t cell,
                                               uintptr_t word, Site site) {
  if (thread.lockset != kNoLocks) return record_under_locks(thread, granule, cell, word, site);
  const Seen seen(granule);
  if (has_had_race(word)) [[unlikely]]
    return record_first(thread, granule, cell, word, site);
  if (seen.nothing()) {
    if (shadow_page(word) != ShadowPage::Made) [[unlikely]]
      return record_first(thread, granule, cell, word, site);
    return put(granule, first_cell(thread), cell);
  }
  const Survey found = survey(seen, cell);
  // Two atomic accesses without locks ask for nothing.
  const uint32_t foreign = (cell & kAtomic) != 0 ? found.foreign & ~found.atomic : found.foreign;
  if (foreign != 0 && !is_surely_settled(thread, granule, foreign))
    return record_first(thread, granule, cell, word, site);
  if (found.alike != 0) {
    const auto at = static_cast<uint32_t>(__builtin_ctz(found.alike));
    const uint64_t differs = __atomic_load_n(&granule.cell[at], __ATOMIC_RELAXED) ^ cell;
    if ((differs & kSlotBits) == 0 && (differs & kSameStep) != 0) return put(granule, at, cell);
  } else if (const uint32_t longer = matching(seen, cell, kSameStep | kPlaceField); longer != 0) {
    const auto at = static_cast<uint32_t>(__builtin_ctz(longer));
    const uint64_t before = __atomic_load_n(&granule.cell[at], __ATOMIC_RELAXED);
    if (((before ^ cell) & (kSameStep | kPlaceField)) == 0) return put(granule, at, before | cell);
  } else if ((cell & kAtomic) == 0) {
    const uint32_t own = found.own & ~found.empty;
    if (own == matching(seen, cell, kThreadAndSegment)) {
      if (found.empty != 0) return put(granule, next_in(found.empty, first_cell(thread)), cell);
      if (own == kAllCells) return put(granule, first_cell(thread), cell);
    }
  }
  record_first(thread, granule, cell, word, site);
}

}  // namespace

void record_at_place(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  record_here(thread, granule, cell, word, site);
}

void record_plainly(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  const uint64_t key = place_key(thread, site);
  const KnownPlace& known = known_place(thread, key);
  if (known.key != key || thread.ignored != 0) [[unlikely]]
    return record(thread, granule, cell, word, site);
  record_here(thread, granule, cell | uint64_t{known.place} << kPlaceShift, word, site);
}

void record_first(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  const Seen seen(granule);
  if (seen.nothing()) {
    note_site(thread, cell, site, word);
    prepare_shadow(word);
    return put(granule, first_cell(thread), cell);
  }
  const Survey found = survey(seen, cell);
  // Most accesses are what the thread did before, in another segment.
  if (found.alike != 0) {
    const auto at = static_cast<uint32_t>(__builtin_ctz(found.alike));
    const uint64_t before = __atomic_load_n(&granule.cell[at], __ATOMIC_RELAXED);
    if (((before ^ cell) & kSameStep) == 0) return;
    if (((before ^ cell) & kSlotBits) == 0 && locks_cover(thread, before) &&
        (found.foreign == 0 || is_settled(thread, granule, found.foreign, cell))) {
      if (notes_locked(thread)) note_under_locks(thread, granule, found.own, cell, word, site);
      note_site(thread, cell, site, word);
      return put(granule, at, cell);
    }
  }
  const OfThisStep known = of_this_step(granule, found.own, cell);
  if (known.at != Granule::kCells && (cell & ~known.cell & kBytes) == 0) return;
  if (found.foreign != 0 && !is_settled(thread, granule, found.foreign, cell))
    return record_slowly(thread, granule, cell, word, site);
  if (notes_locked(thread)) note_under_locks(thread, granule, found.own, cell, word, site);
  note_site(thread, cell, site, word);
  if (known.at != Granule::kCells) {
    put(granule, known.at, known.cell | (cell & kBytes));
  } else {
    enter_where_room_is(thread, granule, found, cell);
  }
}

}  // namespace simrt::rt::detect
