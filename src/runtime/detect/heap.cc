#include "detect/heap.h"

#include "detect/pool.h"

namespace simrt::rt::detect {
namespace {

// Written and read without a lock: the last word holds a check of all others.
struct Entry {
  uintptr_t address;
  uint64_t size;
  uint64_t place;  // site, context
  uint64_t thread_and_check;
};

// One block begins in a grain: the smallest of glibc's are as far apart. Whoever enters one does not look at
// what was there: a store waits for memory in the background, a load does not.
constexpr uint32_t kGrains = 1u << 21, kGrainsOfChunk = 1u << 11;  // a chunk gets its memory at once
constexpr uintptr_t kGrain = 32, kFarthest = uintptr_t{1} << 20;   // how far inside a block one is found

Entry* entries = nullptr;  // by grain
bool chunk_made[kGrains / kGrainsOfChunk];

// Neighbours in memory are neighbours here; what is farther apart than the table is long lies anywhere.
uint32_t grain_of(uintptr_t address) {
  constexpr unsigned kRegionShift = 26;
  static_assert(kGrains * kGrain == uintptr_t{1} << kRegionShift);
  const uint64_t region = (address >> kRegionShift) * 0x9e3779b97f4a7c15u >> 40;
  return static_cast<uint32_t>(address / kGrain + region) % kGrains;
}

uint64_t check_of(const Entry& entry, uint32_t thread) {
  uint64_t h = entry.address * 0x9e3779b97f4a7c15u ^ entry.size * 0xc2b2ae3d27d4eb4fu;
  h = (h ^ entry.place ^ thread) * 0x9e3779b97f4a7c15u;
  return h >> 32 | 1;
}

Entry load(const Entry& from) {
  return {__atomic_load_n(&from.address, __ATOMIC_RELAXED), __atomic_load_n(&from.size, __ATOMIC_RELAXED),
          __atomic_load_n(&from.place, __ATOMIC_RELAXED),
          __atomic_load_n(&from.thread_and_check, __ATOMIC_RELAXED)};
}

void store(Entry& to, const Entry& entry) {
  __atomic_store_n(&to.address, entry.address, __ATOMIC_RELAXED);
  __atomic_store_n(&to.size, entry.size, __ATOMIC_RELAXED);
  __atomic_store_n(&to.place, entry.place, __ATOMIC_RELAXED);
  __atomic_store_n(&to.thread_and_check, entry.thread_and_check, __ATOMIC_RELAXED);
}

uint32_t thread_of(const Entry& entry) { return static_cast<uint32_t>(entry.thread_and_check); }

bool is_whole(const Entry& entry) {
  return entry.thread_and_check >> 32 == check_of(entry, thread_of(entry));
}

// The block that begins in the grain of `address`.
bool find(uintptr_t address, Entry& out) {
  out = load(entries[grain_of(address)]);
  return (out.address ^ address) / kGrain == 0 && is_whole(out);
}

}  // namespace

bool make_heap() {
  entries = reserve_array<Entry>(kGrains);
  return entries != nullptr;
}

void enter_block(const Thread& thread, uintptr_t address, uint64_t size, uintptr_t pc) {
  const uint32_t number = grain_of(address);
  bool& made = chunk_made[number / kGrainsOfChunk];
  if (!__atomic_load_n(&made, __ATOMIC_RELAXED)) {
    __atomic_store_n(&made, true, __ATOMIC_RELAXED);
    populate(entries + number / kGrainsOfChunk * kGrainsOfChunk, kGrainsOfChunk * sizeof(Entry));
  }
  Entry entry = {address, size, uint64_t{thread.context} << 32 | site_of(pc), 0};
  entry.thread_and_check = check_of(entry, thread.index) << 32 | thread.index;
  store(entries[number], entry);
}

void find_block(uintptr_t inside, Block& block) {
  block.size = 0;
  const uintptr_t first = inside & ~(kGrain - 1);
  for (uintptr_t at = first; at + kFarthest > first && at != 0; at -= kGrain) {
    Entry entry;
    if (!find(at, entry) || entry.address > inside) continue;
    if (inside >= entry.address + entry.size) return;
    block.address = entry.address;
    block.size = entry.size;
    block.thread = thread_of(entry);
    block.pc = pc_of(static_cast<Site>(entry.place));
    block.frames = context_frames(static_cast<Context>(entry.place >> 32), block.stack, kMostStack);
    return;
  }
}

}  // namespace simrt::rt::detect
