#include "detect/heap.h"

#include "detect/pool.h"
#include "sys/lock.h"

namespace simrt::rt::detect {
namespace {

struct Entry {
  uintptr_t address;
  uint64_t size;
  Site site;
  Context context;
  uint32_t thread;
};

constexpr uint32_t kEntries = 1u << 20, kWays = 4, kStripes = 256;
constexpr uintptr_t kGrain = 16, kFarthest = uintptr_t{1} << 20;  // how far inside a block one is found

struct alignas(64) Stripe {
  runtime::SpinLock lock;
};
Stripe stripes[kStripes];
Entry* entries = nullptr;  // sets of kWays; the oldest of a full set is forgotten

uint32_t set_of(uintptr_t address) {
  return static_cast<uint32_t>((address / kGrain) * 0x9e3779b97f4a7c15u >> 40) % (kEntries / kWays) * kWays;
}

bool find(uintptr_t address, Entry& out) {
  const uint32_t set = set_of(address);
  runtime::SpinLock& lock = stripes[set / kWays % kStripes].lock;
  bool found = false;
  lock.lock();
  for (uint32_t i = 0; i < kWays; ++i) {
    if (entries[set + i].address != address) continue;
    out = entries[set + i];
    found = true;
  }
  lock.unlock();
  return found;
}

}  // namespace

bool make_heap() {
  entries = reserve_array<Entry>(kEntries);
  return entries != nullptr;
}

void enter_block(Thread& thread, uintptr_t address, uint64_t size, uintptr_t pc) {
  const uint32_t set = set_of(address);
  const Entry entry = {address, size, site_of(pc), thread.context, thread.index};
  runtime::SpinLock& lock = stripes[set / kWays % kStripes].lock;
  lock.lock();
  uint32_t at = kWays - 1;
  for (uint32_t i = 0; i < kWays; ++i) {
    if (entries[set + i].address != address && entries[set + i].address != 0) continue;
    at = i;
    break;
  }
  for (; at > 0; --at) entries[set + at] = entries[set + at - 1];
  entries[set] = entry;
  lock.unlock();
}

void find_block(uintptr_t inside, Block& block) {
  block.size = 0;
  const uintptr_t first = inside & ~(kGrain - 1);
  for (uintptr_t at = first; at + kFarthest > first && at != 0; at -= kGrain) {
    Entry entry;
    if (!find(at, entry)) continue;
    if (inside >= entry.address + entry.size) return;
    block.address = entry.address;
    block.size = entry.size;
    block.thread = entry.thread;
    block.pc = pc_of(entry.site);
    block.frames = context_frames(entry.context, block.stack, kMostStack);
    return;
  }
}

void heap_fork_child() {
  for (auto& stripe : stripes) stripe.lock.reset();
}

}  // namespace simrt::rt::detect
