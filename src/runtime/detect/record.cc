// One access against the granule that it is made in: what it conflicts with, and where it is entered.
#include "detect/access.h"
#include "detect/atomicity.h"
#include "detect/conflict.h"
#include "detect/detector.h"
#include "detect/race.h"
#include "detect/survey.h"

namespace simrt::rt::detect {
namespace {

uint64_t with_place(Thread& thread, uint64_t cell, Site site) {
  return cell | uint64_t{place_at(thread, site)} << kPlaceShift;
}

// What came into the granule since its cells were looked at: two threads that are there at the same moment do
// not see each other before both have entered their cells.
[[gnu::noinline]] void check_newcomer(Thread& thread, uint64_t cell, uint64_t other, uintptr_t word) {
  if (((other ^ cell) & kSlotBits) == 0 || !conflict(other, cell) ||
      thread.clock[Hard][slot_of(other)] >= segment_of(other))
    return;
  check(thread, cell, other, word);
}

struct Room {
  uint32_t at = Granule::kCells;
  uint32_t rank = 0;    // of the reasons to put the new access here
  uint32_t spared = 0;  // bit i: cell i is the thread's own, and covered

  void offer(uint32_t i, uint32_t offered) {
    if (offered > rank) at = i, rank = offered;
  }
};
enum : uint32_t { kEvictOwn = 1, kEmpty, kCovered, kSame };

enum class Own : uint8_t { Known, SiteAdded, BytesAdded, Apart };

// The thread's own cell of this segment and kind: the same access, another site for the same bytes, or more
// bytes at the same site (then `cell` becomes what takes the place of both).
Own extend(Thread& thread, uint64_t own, uint64_t& cell, Site site) {
  const Place place = place_of(own);
  if (((own ^ cell) & kBytes) == 0) {
    const Place more = with_site(place, {site, thread.context});
    if (more == place) return Own::Known;
    cell = (own & ~kPlaceField) | uint64_t{more} << kPlaceShift;
    return Own::SiteAdded;
  }
  if (!is_only_site(place, site)) return Own::Apart;
  if ((cell & kBytes & ~own) == 0) return Own::Known;
  cell = own | (cell & kBytes);
  return Own::BytesAdded;
}

// A cell of the thread's own, of another segment or kind.
void offer_own(Thread& thread, uint64_t cell, uint64_t old, uint32_t i, Room& room) {
  const bool now = segment_of(old) == thread.segment;
  if (now) {  // a read and a write of one segment keep a cell each: both sites count
    room.offer(i, kEvictOwn);
  } else if (covers(thread, cell, old)) {
    room.offer(i, kCovered);
    room.spared |= 1u << i;
  }
}

// One cell says what several did: room for others, who would have to push somebody out.
void empty_spared(Granule& granule, const Seen& seen, const Room& room) {
  for (uint32_t rest = room.spared & ~(1u << room.at); rest != 0; rest &= rest - 1) {
    const auto i = static_cast<uint32_t>(__builtin_ctz(rest));
    uint64_t there = seen.cell(i);
    __atomic_compare_exchange_n(&granule.cell[i], &there, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

[[gnu::noinline]] void check_newcomers(Thread& thread, const Granule& granule, const Seen& seen, uint32_t at,
                                       uint64_t displaced, uint64_t cell, uintptr_t word) {
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const uint64_t now = i == at ? displaced : __atomic_load_n(&granule.cell[i], __ATOMIC_ACQUIRE);
    if (now != seen.cell(i) && now != 0) check_newcomer(thread, cell, now, word);
  }
}

// Two threads that come to a granule at the same moment (some 50 ns) do not see each other.
// Where only some sites are watched, an exchange, which is a full barrier, sees to it that the later one
// does; where all are, it would be a third of all the time, and the moment is left alone, as in
// ThreadSanitizer. Nobody is there at the same moment in controlled executions.
bool must_exchange(const Thread& thread, uint64_t cell) { return thread.choosy && (cell & kAtomic) == 0; }

// What the access `asked` that was looked at with `seen` puts into the granule: `cell`, which may have more
// bytes or sites than it.
void enter(Thread& thread, Granule& granule, const Seen& seen, uint32_t at, uint64_t cell, uint64_t asked,
           uintptr_t word) {
  const uint64_t before = seen.cell(at);
  if (before == 0) prepare_shadow(word);
  if (!must_exchange(thread, cell)) return put(granule, at, cell);
  const uint64_t displaced = __atomic_exchange_n(&granule.cell[at], cell, __ATOMIC_SEQ_CST);
  if ((unchanged(seen, Seen(granule)) | 1u << at) != kAllCells || displaced != before) [[unlikely]]
    check_newcomers(thread, granule, seen, at, displaced, asked, word);
}

uint64_t latest_before(const Thread& thread, const Granule& granule, uint64_t now) {
  uint64_t latest = 0;
  if (thread.lockset == kNoLocks) return latest;
  for (const uint64_t& each : granule.cell) {
    const uint64_t own = __atomic_load_n(&each, __ATOMIC_RELAXED);
    if (own != 0 && ((own ^ now) & kSlotBits) == 0) latest = later_before(thread, latest, own, now);
  }
  return latest;
}

// What has to be looked into before an access, with the place of `cell` known.
void note(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site, uint64_t earlier) {
  if (notes_locked(thread)) note_locked(thread, granule, cell, word, site, earlier);
  note_site(thread, cell, site, word);
}

}  // namespace

// Any granule, any access.
void record_slowly(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  if (thread.ignored != 0) return;
  const Seen seen(granule);
  const uint64_t asked = cell;
  Room room;
  uint64_t earlier = 0;
  for (uint32_t n = 0; n < Granule::kCells; ++n) {
    const uint32_t i = (n + first_cell(thread)) % Granule::kCells;
    const uint64_t old = seen.cell(i);
    if (old == 0) {
      room.offer(i, kEmpty);
    } else if (((old ^ cell) & kSlotBits) == 0) {
      if (((old ^ cell) & kSameStep) != 0) {
        offer_own(thread, asked, old, i, room);
        earlier = later_before(thread, earlier, old, asked);
        continue;
      }
      const Own own = extend(thread, old, cell, site);
      if (own == Own::Known) return;
      room.offer(i, own == Own::Apart ? kEvictOwn : kSame);
    } else {
      const bool ordered = is_ordered(thread, old);
      if (conflict(old, asked)) {
        if (!ordered) check(thread, asked, old, word);
      } else if (!ordered && passes_on(old, asked)) {
        is_kept_apart(thread, old);
      }
      if (ordered && room.rank < kCovered && covers(thread, asked, old)) room.offer(i, kCovered);
    }
  }
  note(thread, granule, asked, word, site, earlier);
  if (room.rank == 0)
    room.at = static_cast<uint32_t>((cell >> kSegmentShift) + (cell >> 8)) % Granule::kCells;
  enter(thread, granule, seen, room.at, cell, asked, word);
  empty_spared(granule, seen, room);
}

namespace {

template <bool kExchanges>
[[gnu::always_inline]] inline void record_quickly(Thread& thread, Granule& granule, uint64_t cell,
                                                  uintptr_t word, Site site) {
  const Seen seen(granule);
  const auto enter_at = [&](uint32_t at) {
    if constexpr (kExchanges) {
      enter(thread, granule, seen, at, cell, cell, word);
    } else {
      put(granule, at, cell);
    }
  };
  if (seen.nothing()) {
    note_site(thread, cell, site, word);
    prepare_shadow(word);
    return enter_at(first_cell(thread));
  }
  // Most accesses are what the thread did before, in another segment.
  const Survey found = survey(seen, cell);
  if (found.alike != 0) {
    const auto at = static_cast<uint32_t>(__builtin_ctz(found.alike));
    const uint64_t before = __atomic_load_n(&granule.cell[at], __ATOMIC_RELAXED);
    const bool still_own = ((before ^ cell) & kSlotBits) == 0;
    if (still_own && ((before ^ cell) & kSameStep) != 0 && locks_cover(thread, before) &&
        (found.foreign == 0 || is_settled(thread, granule, found.foreign, cell))) {
      const bool alone = (found.own & (found.own - 1)) == 0 && (cell & kAtomic) == 0;
      const uint64_t earlier = alone ? before : latest_before(thread, granule, cell);
      note(thread, granule, cell, word, site, earlier);
      return enter_at(at);
    }
  }
  record_slowly(thread, granule, cell, word, site);
}

// Apart: it needs more registers.
[[gnu::noinline]] void record_exchanging(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word,
                                         Site site) {
  record_quickly<true>(thread, granule, cell, word, site);
}

}  // namespace

void record(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  if (thread.ignored != 0) [[unlikely]]
    return;
  cell = with_place(thread, cell, site);
  if (thread.first_site_counts) return record_first(thread, granule, cell, word, site);
  if (must_exchange(thread, cell)) [[unlikely]]
    return record_exchanging(thread, granule, cell, word, site);
  record_quickly<false>(thread, granule, cell, word, site);
}

void add_site(Thread& thread, Granule& granule, uint32_t i, uint64_t there, uint64_t cell, uintptr_t word,
              Site site) {
  const Place more = grown_place(place_of(there), site);
  bool plain = more != kNoPlace && race_count == 0 && thread.ignored == 0;
  for (const uint64_t& other : granule.cell) {
    const uint64_t now = __atomic_load_n(&other, __ATOMIC_RELAXED);
    plain = plain && (now == 0 || ((now ^ cell) & kSlotBits) == 0);
  }
  if (!plain) return record_slowly(thread, granule, with_place(thread, cell, site), word, site);
  const uint64_t grown = (there & ~kPlaceField) | uint64_t{more} << kPlaceShift;
  __atomic_compare_exchange_n(&granule.cell[i], &there, grown, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// Byte by byte over text or a buffer. Where there is anything to look into, record() does.
void add_bytes(Thread& thread, Granule& granule, uint32_t i, uint64_t there, uint64_t cell, uintptr_t word,
               Site site) {
  const Seen seen(granule);
  const bool plain = seen.cell(i) == there && race_count == 0 && thread.ignored == 0 &&
                     thread.lockset == kNoLocks && (cell & kAtomic) == 0 &&
                     is_settled(thread, granule, survey(seen, cell).foreign, cell);
  if (!plain) return record_slowly(thread, granule, with_place(thread, cell, site), word, site);
  const uint64_t place = there & kPlaceField;
  enter(thread, granule, seen, i, there | cell, place | cell, word);
}

}  // namespace simrt::rt::detect
