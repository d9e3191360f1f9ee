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
  if (!keep_apart(thread.lockset, others)) return false;
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

// A cell stands beside the info of another one for the few instructions in which two threads enter theirs at
// once.
uint64_t info_beside(const Granule& granule, uint64_t cell, uint64_t info) {
  constexpr int kMostLooks = 64;
  for (int look = 0; look < kMostLooks && !has_tag_of(info, cell); ++look)
    for (uint32_t i = 0; i < Granule::kCells && !has_tag_of(info, cell); ++i)
      info = __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED);
  return info;
}

[[gnu::noinline]] void check(Thread& thread, uint64_t cell, Site site, uint64_t other, uint64_t info,
                             uintptr_t word) {
  const uint32_t slot = slot_of(other);
  const uint64_t segment = segment_of(other);
  if (is_kept_apart(thread, other)) return;
  Evidence evidence = Evidence::Possible;
  if (thread.clock[Full][slot] < segment) {
    evidence = Evidence::Witnessed;
  } else if (thread.clock[Data][slot] < segment && !options.partial) {
    evidence = Evidence::Predicted;
  }
  report_race(thread, cell, site, other, info_beside(*granule_of(word), other, info), word, evidence);
}

// What came into the granule since its cells were looked at: two threads that are there at the same moment do
// not see each other before both have entered their cells.
[[gnu::noinline]] void check_newcomer(Thread& thread, uint64_t cell, Site site, uint64_t other, uint64_t info,
                                      uintptr_t word) {
  if (((other ^ cell) & kSlotBits) == 0 || !conflict(other, cell) ||
      thread.clock[Hard][slot_of(other)] >= segment_of(other))
    return;
  check(thread, cell, site, other, info, word);
}

struct Place {
  uint32_t at = Granule::kCells;
  uint32_t rank = 0;  // of the reasons to put the new access here

  void offer(uint32_t i, uint32_t offered) {
    if (offered > rank) at = i, rank = offered;
  }
};
enum : uint32_t { kEvictOwn = 1, kEmpty, kCovered };

struct Displaced {
  uint64_t cell, info;
};

// The exchange is a full barrier: of two threads that come to a granule at once, the later one sees the
// other. `seen` is what the cell was before; `contended`: another thread may be about to take the same place.
Displaced enter_cell(Granule& granule, uint32_t i, uint64_t cell, uint64_t info, uint64_t seen,
                     bool contended) {
  Displaced displaced;
  if (contended) {
    displaced.info = __atomic_exchange_n(&granule.info[i], info, __ATOMIC_RELAXED);
  } else {
    displaced.info = __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED);
    __atomic_store_n(&granule.info[i], info, __ATOMIC_RELAXED);
  }
  displaced.cell = __atomic_exchange_n(&granule.cell[i], cell, __ATOMIC_SEQ_CST);
  if (displaced.cell != seen) [[unlikely]] {  // the other's info came before ours or behind it
    if (!has_tag_of(displaced.info, displaced.cell))
      displaced.info = __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED);
    __atomic_store_n(&granule.info[i], info, __ATOMIC_RELAXED);
  }
  return displaced;
}

enum class Own : uint8_t { Known, SiteAdded, BytesAdded, Apart };

// The thread's own cell of this segment and kind: the same access, another site for the same bytes, or more
// bytes at the same site (then `cell` takes the old ones in).
Own extend(Thread& thread, Granule& granule, uint32_t i, uint64_t own, uint64_t& cell, Site site) {
  const uint64_t info = __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED);
  const auto sites = static_cast<Site>(info);
  if (own == cell) {
    const Site more = with_site(sites, context_of(info), {site, thread.context});
    if (more == sites) return Own::Known;
    __atomic_store_n(&granule.info[i], info_of(cell, more, context_of(info)), __ATOMIC_RELAXED);
    return Own::SiteAdded;
  }
  if (sites != site) return Own::Apart;
  if ((cell & kBytes & ~own) == 0) return Own::Known;
  cell |= own & kBytes;
  return Own::BytesAdded;
}

// A cell of the thread's own, of another segment or kind.
void offer_own(Thread& thread, uint64_t cell, uint64_t old, uint32_t i, Place& place) {
  const bool now = segment_of(old) == thread.segment;
  if (now) {  // a read and a write of one segment keep a cell each: both sites count
    place.offer(i, kEvictOwn);
  } else if (place.rank < kCovered && covers(cell, thread.lockset, old)) {
    place.offer(i, kCovered);
  }
}

}  // namespace

void record(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  if (thread.ignored != 0) [[unlikely]]
    return;
  const uint64_t asked = cell;
  Place place;
  bool entered = false;
  uint64_t seen[Granule::kCells];
  // Threads look for room from different cells on, and so do not meet in one.
  for (uint32_t n = 0; n < Granule::kCells; ++n) {
    const uint32_t i = (n + thread.slot) % Granule::kCells;
    const uint64_t old = seen[i] = __atomic_load_n(&granule.cell[i], __ATOMIC_ACQUIRE);
    if (old == 0) {
      place.offer(i, kEmpty);
    } else if (((old ^ cell) & kSlotBits) == 0) {
      if (((old ^ cell) & ~kBytes) != 0) {
        offer_own(thread, asked, old, i, place);
        continue;
      }
      const Own own = extend(thread, granule, i, old, cell, site);
      if (own == Own::Known) return;
      entered = entered || own == Own::SiteAdded;
      place.offer(i, own == Own::BytesAdded ? kCovered : kEvictOwn);
    } else {
      const bool ordered = thread.clock[Hard][slot_of(old)] >= segment_of(old);
      if (conflict(old, asked)) {
        if (!ordered)
          check(thread, asked, site, old, __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED), word);
      } else if (!ordered && thread.lockset != kNoLocks && passes_on(old, asked)) {
        is_kept_apart(thread, old);
      }
      if (ordered && place.rank < kCovered && covers(asked, thread.lockset, old)) place.offer(i, kCovered);
    }
  }
  if (thread.lockset != kNoLocks && options.atomicity) note_locked(thread, granule, asked, word, site);
  note_site(thread, asked, site, word);
  if (entered) return;
  if (place.rank == 0)
    place.at = static_cast<uint32_t>((cell >> kSegmentShift) + (cell >> 8)) % Granule::kCells;
  const uint64_t before = seen[place.at];
  if (before == 0) prepare_shadow(word);
  const bool contended = before == 0 ? slots_used > Granule::kCells : ((before ^ cell) & kSlotBits) != 0;
  const Displaced displaced =
      enter_cell(granule, place.at, cell, info_of(cell, site, thread.context), before, contended);
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const bool own = i == place.at;
    const uint64_t now = own ? displaced.cell : __atomic_load_n(&granule.cell[i], __ATOMIC_ACQUIRE);
    if (now == seen[i] || now == 0) [[likely]]
      continue;
    const uint64_t info = own ? displaced.info : __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED);
    check_newcomer(thread, asked, site, now, info, word);
  }
}

void add_site(Thread& thread, Granule& granule, uint32_t i, uint64_t cell, uintptr_t word, Site site) {
  const uint64_t info = __atomic_load_n(&granule.info[i], __ATOMIC_RELAXED);
  const auto sites = static_cast<Site>(info);
  const Site more = grown_set(sites, site);
  if (more == 0 || race_count != 0 || thread.ignored != 0) return record(thread, granule, cell, word, site);
  for (const uint64_t& other : granule.cell) {
    const uint64_t there = __atomic_load_n(&other, __ATOMIC_RELAXED);
    if (there != 0 && ((there ^ cell) & kSlotBits) != 0) return record(thread, granule, cell, word, site);
  }
  if (more != sites)
    __atomic_store_n(&granule.info[i], (info & ~uint64_t{UINT32_MAX}) | more, __ATOMIC_RELAXED);
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

bool is_untouched(const Granule& granule) {
  uint64_t cells = 0;
  for (const uint64_t& cell : granule.cell) cells |= __atomic_load_n(&cell, __ATOMIC_RELAXED);
  return cells == 0;
}

// Nobody has been in the granule, as in most of what a program frees.
void mark_released(const Thread& thread, Granule& granule, uint64_t cell, Site site) {
  const uint32_t i = thread.slot % Granule::kCells;
  __atomic_store_n(&granule.info[i], info_of(cell, site, thread.context), __ATOMIC_RELAXED);
  __atomic_store_n(&granule.cell[i], cell, __ATOMIC_RELEASE);
}

// [begin, end) lies in one page, which has its shadow.
void release_in_page(Thread& thread, uintptr_t begin, uintptr_t end, uintptr_t marked_end, Site site) {
  each_word(begin, end, [&](uintptr_t at, uint32_t n) {
    const uint64_t cell = thread.base | kWrite | kRelease | byte_mask(at, n);
    Granule& granule = *granule_of(at);
    if (!is_untouched(granule)) {
      record(thread, granule, cell, at & ~uintptr_t{7}, site);
    } else if (at < marked_end) {
      mark_released(thread, granule, cell, site);
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
