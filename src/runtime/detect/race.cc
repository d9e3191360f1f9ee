#include "detect/race.h"

#include "detect/detector.h"
#include "detect/heap.h"
#include "detect/objects.h"
#include "detect/pool.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

Options options;
uint32_t race_count = 0;
uint8_t racy_words[1u << kRacyBits];

namespace {

constexpr uint32_t kMostPairs = 1u << 16, kMostProbes = 64, kMostMembers = 64;
constexpr uint32_t kMostWords = 1u << 16;

// Pairs of sites that have been reported, with the best evidence so far.
struct Pair {
  uint64_t sites;  // lower | upper << 32, with kinds; 0 = free
  uint8_t kinds;
  Evidence evidence;
  uint32_t id;
};

// Words (8 bytes) of memory with a race, and the sites told of.
struct Word {
  uintptr_t address;  // 0 = free, 1 = forgotten
  uint32_t race;
};

runtime::SpinLock lock;
Pair* pairs = nullptr;
Word* words = nullptr;
uint64_t* told_sites = nullptr;  // race << 32 | site, with kind
Race scratch;

uint32_t hash(uint64_t key, uint32_t size) {
  return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> 40) % size;
}

uint8_t kinds_of(uint64_t cell) { return static_cast<uint8_t>(cell >> 8 & 7); }

// Under the lock. Null when the table is full.
Pair* find_pair(Site a, uint8_t a_kind, Site b, uint8_t b_kind) {
  if (a > b || (a == b && a_kind > b_kind)) {
    const Site site = a;
    a = b, b = site;
    const uint8_t kind = a_kind;
    a_kind = b_kind, b_kind = kind;
  }
  const uint64_t sites = uint64_t{a} << 32 | b;
  const auto kinds = static_cast<uint8_t>(a_kind | b_kind << 3);
  uint32_t at = hash(sites ^ kinds, kMostPairs);
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kMostPairs) {
    Pair& pair = pairs[at];
    if (pair.sites == 0) {
      pair = {sites, kinds, Evidence{}, 0};
      return &pair;
    }
    if (pair.sites == sites && pair.kinds == kinds) return &pair;
  }
  return nullptr;
}

Word* find_word(uintptr_t address, bool make) {
  Word* reusable = nullptr;
  uint32_t at = hash(address, kMostWords);
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kMostWords) {
    Word& word = words[at];
    if (word.address == address) return &word;
    if (word.address == 1 && reusable == nullptr) reusable = &word;
    if (word.address == 0) {
      if (reusable == nullptr) reusable = &word;
      break;
    }
  }
  if (!make || reusable == nullptr) return nullptr;
  *reusable = {address, UINT32_MAX};
  __atomic_store_n(&racy_word(address), uint8_t{1}, __ATOMIC_RELEASE);
  return reusable;
}

// True the first time. A full table tells of nothing more.
bool first_told(uint32_t race, uint64_t cell, Site site) {
  const uint64_t key = (uint64_t{race} << 34 | uint64_t{kinds_of(cell)} << 31 | site) + 1;
  uint32_t at = hash(key, kMostPairs);
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kMostPairs) {
    if (told_sites[at] == key) return false;
    if (told_sites[at] != 0) continue;
    told_sites[at] = key;
    return true;
  }
  return false;
}

uint32_t first_byte(uint64_t cell) {
  return (cell & kBytes) == 0 ? 0 : static_cast<uint32_t>(__builtin_ctzll(cell & kBytes));
}
uint32_t byte_span(uint64_t cell) {
  const auto bytes = static_cast<uint32_t>(cell & kBytes);
  return bytes == 0 ? 0 : 32 - static_cast<uint32_t>(__builtin_clz(bytes)) - first_byte(cell);
}

void tell_site(uint32_t race, uint64_t cell, Site site, uintptr_t word) {
  if (!first_told(race, cell, site)) return;
  options.sink->racy_site({race, index_of(slot_of(cell), segment_of(cell)), pc_of(site),
                           word + first_byte(cell), byte_span(cell), (cell & kWrite) != 0,
                           (cell & kAtomic) != 0});
}

void report_pair(uint64_t cell, SiteInContext here, uint64_t other, SiteInContext there, uintptr_t word,
                 Evidence evidence) {
  Pair* pair = find_pair(here.site, kinds_of(cell), there.site, kinds_of(other));
  if (pair == nullptr || pair->evidence >= evidence) return;
  if (pair->evidence == Evidence{}) pair->id = race_count++;
  pair->evidence = evidence;
  scratch.id = pair->id;
  scratch.evidence = evidence;
  fill_side(scratch.first, other, there, word);
  fill_side(scratch.second, cell, here, word);
  find_block(word, scratch.block);
  options.sink->race(scratch);
  Word* racy = find_word(word, true);
  if (racy == nullptr) return;
  if (racy->race == UINT32_MAX) racy->race = pair->id;
  tell_site(racy->race, other, there.site, word);
  tell_site(racy->race, cell, here.site, word);
}

}  // namespace

bool make_races() {
  pairs = reserve_array<Pair>(kMostPairs);
  words = reserve_array<Word>(kMostWords);
  told_sites = reserve_array<uint64_t>(kMostPairs);
  return pairs != nullptr && words != nullptr && told_sites != nullptr;
}

void report_race(Thread& thread, uint64_t cell, uint64_t other, uintptr_t word, Evidence evidence) {
  if (thread.reporting) return;
  const Busy reporting(thread.reporting);
  lock.lock();
  SiteInContext here[1], there[kMostMembers];
  if (members(place_of(cell), here, 1) == 1) {
    const uint32_t n = members(place_of(other), there, kMostMembers);
    for (uint32_t i = 0; i < n; ++i) report_pair(cell, here[0], other, there[i], word, evidence);
  }
  lock.unlock();
}

void note_site_slowly(Thread& thread, uint64_t cell, Site site, uintptr_t word) {
  if (thread.reporting) return;
  const Busy reporting(thread.reporting);
  lock.lock();
  const Word* racy = find_word(word, false);
  if (racy != nullptr) tell_site(racy->race, cell, site, word);
  lock.unlock();
}

void forget_races(uintptr_t begin, uint64_t size) {
  if (race_count == 0) return;
  for (uintptr_t word = begin & ~uintptr_t{7}; word < begin + size; word += 8) {
    if (racy_word(word) == 0) continue;
    lock.lock();
    Word* racy = find_word(word, false);
    if (racy != nullptr) racy->address = 1;
    lock.unlock();
  }
}

void fill_held(LockHeld& held, const HeldKey& key) {
  held.lock = lock_address(key.lock);
  held.shared = key.shared;
  held.pc = pc_of(key.site);
  held.frames = context_frames(key.context, held.stack, kMostStack);
}

void fill_side(Side& side, uint64_t cell, SiteInContext where, uintptr_t word) {
  side.thread = index_of(slot_of(cell), segment_of(cell));
  side.pc = pc_of(where.site);
  side.address = word + first_byte(cell);
  side.size = byte_span(cell);
  side.write = (cell & kWrite) != 0;
  side.atomic = (cell & kAtomic) != 0;
  side.release_of_memory = (cell & kRelease) != 0;
  side.frames = context_frames(where.context, side.stack, kMostStack);
  const LockSet locks = lockset_of(cell);
  side.locks_known = locks != kUnknownLocks;
  uint32_t count = 0;
  const HeldKey* keys = lockset_keys(locks, count);
  constexpr uint32_t kRoom = sizeof side.held / sizeof side.held[0];
  side.locks = count < kRoom ? count : kRoom;
  for (uint32_t i = 0; i < side.locks; ++i) fill_held(side.held[i], keys[i]);
}

void races_fork_child() { lock.reset(); }

}  // namespace simrt::rt::detect
