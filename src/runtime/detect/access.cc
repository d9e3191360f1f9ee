#include "detect/access.h"

#include "detect/atomicity.h"
#include "detect/detector.h"
#include "detect/objects.h"
#include "detect/race.h"

namespace simrt::rt::detect {
namespace {

// A later conflict with `old` would be one with `next` as well, made by the same thread or ordered after it.
bool covers(uint64_t next, LockSet next_locks, uint64_t old) {
  return (old & kBytes & ~next) == 0 && ((next & kWrite) != 0 || (old & kWrite) == 0) &&
         (((next ^ old) & kAtomic) == 0 || (next & kAtomic) == 0) && (old & kRelease & ~next) == 0 &&
         (next_locks == kNoLocks || included(next_locks, lockset_of(old)));
}

bool conflict(uint64_t a, uint64_t b) {
  return (a & b & kBytes) != 0 && ((a | b) & kWrite) != 0 && (a & b & kAtomic) == 0;
}

// Two conflicting accesses under a common lock: its hand-over passed data on, so it is an order that stays.
// Inside an atomic operation, which holds a stripe, another one is taken only if that is possible at once.
[[gnu::noinline]] void keep_hand_over(Thread& thread, LockSet mine, LockSet others) {
  common_locks(mine, others, [&](LockId lock) {
    const uintptr_t address = lock_address(lock);
    runtime::SpinLock& stripe = object_lock(address);
    const bool inside = &stripe == thread.stripe;
    if (thread.stripe == nullptr) {
      stripe.lock();
    } else if (!inside && !stripe.try_lock()) {
      return;
    }
    const Object* object = find_object(address, false);
    if (object != nullptr && object->lock == lock) {
      ++thread.knowledge;
      join_into(thread.clock[Data], object->clocks.of[Full]);
      join_into(thread.clock[Data], object->read_full);
    }
    if (!inside) stripe.unlock();
  });
}

// Whether a common lock keeps the two accesses apart; then what it handed over may depend on the other one.
[[gnu::noinline]] bool is_kept_apart(Thread& thread, uint64_t other) {
  const LockSet others = lockset_of(other);
  if (others == kNoLocks || thread.lockset == kNoLocks) return false;
  Apart& memo = thread.apart;
  if (memo.mine != thread.lockset || memo.others != others)
    memo = {thread.lockset, others, keep_apart(thread.lockset, others)};
  if (!memo.kept) return false;
  if (thread.clock[Data][slot_of(other)] < segment_of(other) && (!thread.busy || thread.stripe != nullptr)) {
    const bool was_busy = thread.busy;
    thread.busy = true;
    keep_hand_over(thread, thread.lockset, others);
    thread.busy = was_busy;
  }
  return true;
}

// Two atomics never race, but one that sees the other's value under a lock got it by that lock.
bool passes_on(uint64_t a, uint64_t b) {
  return (a & b & kBytes) != 0 && ((a | b) & kWrite) != 0 && (a & b & kAtomic) != 0;
}

[[gnu::noinline]] void check(Thread& thread, uint64_t cell, uint64_t other, uintptr_t word) {
  const uint32_t slot = slot_of(other);
  const uint64_t segment = segment_of(other);
  if (is_kept_apart(thread, other)) return;
  Evidence evidence = Evidence::Possible;
  if (thread.clock[Full][slot] < segment) {
    evidence = Evidence::Witnessed;
  } else if (thread.clock[Data][slot] < segment && !options.partial) {
    evidence = Evidence::Predicted;
  }
  report_race(thread, cell, other, word, evidence);
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
  uint32_t rank = 0;  // of the reasons to put the new access here

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
  } else if (room.rank < kCovered && covers(cell, thread.lockset, old)) {
    room.offer(i, kCovered);
  }
}

struct Seen {
  uint64_t cell[Granule::kCells];

  explicit Seen(const Granule& granule) {
    for (uint32_t i = 0; i < Granule::kCells; ++i)
      cell[i] = __atomic_load_n(&granule.cell[i], __ATOMIC_ACQUIRE);
  }
  bool nothing() const {
    uint64_t all = 0;
    for (const uint64_t each : cell) all |= each;
    return all == 0;
  }
};

// What the access that was looked at with `seen` puts into the granule: `cell`, which may have more bytes or
// sites than it. The exchange is a full barrier: of two threads that come to a granule at once, the later one
// sees the other.
void enter(Thread& thread, Granule& granule, const Seen& seen, uint32_t at, uint64_t cell, uint64_t asked,
           uintptr_t word) {
  if (seen.cell[at] == 0) prepare_shadow(word);
  const uint64_t displaced = __atomic_exchange_n(&granule.cell[at], cell, __ATOMIC_SEQ_CST);
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const uint64_t now = i == at ? displaced : __atomic_load_n(&granule.cell[i], __ATOMIC_ACQUIRE);
    if (now != seen.cell[i] && now != 0) [[unlikely]]
      check_newcomer(thread, asked, now, word);
  }
}

// Threads look for room from different cells on, and so do not meet in one.
uint32_t first_cell(const Thread& thread) { return thread.slot % Granule::kCells; }

}  // namespace

void record(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  if (thread.ignored != 0) [[unlikely]]
    return;
  cell |= uint64_t{place_at(thread, site)} << kPlaceShift;
  const Seen seen(granule);
  if (seen.nothing()) {
    note_site(thread, cell, site, word);
    return enter(thread, granule, seen, first_cell(thread), cell, cell, word);
  }
  const uint64_t asked = cell;
  Room room;
  Earlier earlier;
  for (uint32_t n = 0; n < Granule::kCells; ++n) {
    const uint32_t i = (n + first_cell(thread)) % Granule::kCells;
    const uint64_t old = seen.cell[i];
    if (old == 0) {
      room.offer(i, kEmpty);
    } else if (((old ^ cell) & kSlotBits) == 0) {
      if (((old ^ cell) & kSameStep) != 0) {
        offer_own(thread, asked, old, i, room);
        earlier.offer(thread, old, asked);
        continue;
      }
      const Own own = extend(thread, old, cell, site);
      if (own == Own::Known) return;
      room.offer(i, own == Own::Apart ? kEvictOwn : kSame);
    } else {
      const bool ordered = thread.clock[Hard][slot_of(old)] >= segment_of(old);
      if (conflict(old, asked)) {
        if (!ordered) check(thread, asked, old, word);
      } else if (!ordered && thread.lockset != kNoLocks && passes_on(old, asked)) {
        is_kept_apart(thread, old);
      }
      if (ordered && room.rank < kCovered && covers(asked, thread.lockset, old)) room.offer(i, kCovered);
    }
  }
  if (thread.lockset != kNoLocks && options.atomicity)
    note_locked(thread, granule, asked, word, site, earlier);
  note_site(thread, asked, site, word);
  if (room.rank == 0)
    room.at = static_cast<uint32_t>((cell >> kSegmentShift) + (cell >> 8)) % Granule::kCells;
  enter(thread, granule, seen, room.at, cell, asked, word);
}

void add_site(Thread& thread, Granule& granule, uint32_t i, uint64_t there, uint64_t cell, uintptr_t word,
              Site site) {
  const Place more = grown_place(place_of(there), site);
  bool plain = more != kNoPlace && race_count == 0 && thread.ignored == 0;
  for (const uint64_t& other : granule.cell) {
    const uint64_t now = __atomic_load_n(&other, __ATOMIC_RELAXED);
    plain = plain && (now == 0 || ((now ^ cell) & kSlotBits) == 0);
  }
  if (!plain) return record(thread, granule, cell, word, site);
  const uint64_t grown = (there & ~kPlaceField) | uint64_t{more} << kPlaceShift;
  __atomic_compare_exchange_n(&granule.cell[i], &there, grown, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// Byte by byte over text or a buffer. Where there is anything to look into, record() does.
void add_bytes(Thread& thread, Granule& granule, uint32_t i, uint64_t there, uint64_t cell, uintptr_t word,
               Site site) {
  const Seen seen(granule);
  bool plain = seen.cell[i] == there && race_count == 0 && thread.ignored == 0 &&
               thread.lockset == kNoLocks && (cell & kAtomic) == 0;
  for (const uint64_t other : seen.cell)
    plain = plain && (!conflict(other, cell) || ((other ^ cell) & kSlotBits) == 0 ||
                      thread.clock[Hard][slot_of(other)] >= segment_of(other));
  if (!plain) return record(thread, granule, cell, word, site);
  const uint64_t place = there & kPlaceField;
  enter(thread, granule, seen, i, there | cell, place | cell, word);
}

void record_straddling(Thread& thread, uintptr_t address, uint32_t size, uint64_t kind, uintptr_t pc) {
  const auto first = static_cast<uint32_t>(8 - (address & 7));
  watch<true>(thread, address, first, kind, pc);
  watch<true>(thread, address + first, size - first, kind, pc);
}

namespace {

// Of a longer range the beginning is watched: a program whose data a race has damaged copies what never was.
constexpr uint64_t kLongestRange = 16u << 20;

// `visit(address, bytes)` for the part of the range in each 8 bytes.
template <class Visit>
void each_word(uintptr_t address, uintptr_t end, Visit visit) {
  while (address < end) {
    const auto here = static_cast<uint32_t>(8 - (address & 7));
    const uint32_t n = end - address < here ? static_cast<uint32_t>(end - address) : here;
    visit(address, n);
    address += n;
  }
}

void watch_range(Thread& thread, uintptr_t address, uint64_t size, uint64_t kind, uintptr_t pc) {
  const uintptr_t end = address + (size < kLongestRange ? size : kLongestRange);
  each_word(address, end, [&](uintptr_t at, uint32_t n) { watch<true>(thread, at, n, kind, pc); });
}

}  // namespace

void access(uintptr_t address, uint32_t size, bool write, uintptr_t pc) {
  if (watched == nullptr) return;
  if (size > 8) {
    watch_range(*watched, address, size, write ? kWrite : 0, pc);
  } else {
    watch<false>(*watched, address, size, write ? kWrite : 0, pc);
  }
}

void range(uintptr_t address, uint64_t size, bool write, uintptr_t pc) {
  if (watched != nullptr) watch_range(*watched, address, size, write ? kWrite : 0, pc);
}

namespace {

// Nobody has been in the granule, as in most of what a program frees.
void mark_released(const Thread& thread, Granule& granule, uint64_t cell) {
  __atomic_store_n(&granule.cell[first_cell(thread)], cell, __ATOMIC_RELEASE);
}

// [begin, end) lies in one page, which has its shadow.
void release_in_page(Thread& thread, uintptr_t begin, uintptr_t end, uintptr_t marked_end, Site site) {
  const uint64_t place = uint64_t{place_at(thread, site)} << kPlaceShift;
  each_word(begin, end, [&](uintptr_t at, uint32_t n) {
    const uint64_t cell = thread.base | kWrite | kRelease | byte_mask(at, n);
    Granule& granule = *granule_of(at);
    if (!Seen(granule).nothing()) {
      record(thread, granule, cell, at & ~uintptr_t{7}, site);
    } else if (at < marked_end) {
      mark_released(thread, granule, cell | place);
    }
  });
}

}  // namespace

// The beginning of the block is marked, for accesses that come behind the release. The rest is checked
// against the accesses that there were: most blocks of that size are never written whole, and where only some
// sites are watched few blocks have been accessed at all.
void release_memory(Thread& thread, uintptr_t address, uint64_t size, uintptr_t pc) {
  if (thread.ignored != 0) return;
  const uintptr_t end = address + size, marked_end = address + (options.partial ? 64 : 1024);
  for (uintptr_t at = address; at < end;) {
    const uintptr_t next = page_of(at) + kPage, here = next < end ? next : end;
    if (at < marked_end) prepare_shadow(at);
    if (may_have_shadow(at)) release_in_page(thread, at, here, marked_end, site_of(pc));
    at = here;
  }
}

}  // namespace simrt::rt::detect
