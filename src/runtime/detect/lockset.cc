#include "detect/lockset.h"

#include "detect/pool.h"
#include "sys/lock.h"

namespace simrt::rt::detect {
namespace {

constexpr uint32_t kMostSets = 1u << 20, kTable = 1u << 21, kMostKeys = 1u << 23, kMostProbes = 64;

struct Set {
  uint32_t first, count;  // into `keys`
};

runtime::SpinLock lock;
Set* sets = nullptr;  // 0 = the empty set
HeldKey* all_keys = nullptr;
uint32_t* table = nullptr;
uint32_t set_count = 1, key_count = 0;

uint64_t hash(const HeldKey* keys, uint32_t count) {
  uint64_t h = count;
  for (uint32_t i = 0; i < count; ++i) {
    h = (h ^ (uint64_t{keys[i].lock} << 1 | keys[i].shared)) * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t{keys[i].site} << 20 ^ keys[i].context)) * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 29;
  }
  return h;
}

bool same(const Set& set, const HeldKey* keys, uint32_t count) {
  if (set.count != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (all_keys[set.first + i] != keys[i]) return false;
  }
  return true;
}

LockSet add(uint32_t at, const HeldKey* keys, uint32_t count) {
  if (set_count == kMostSets || key_count + count > kMostKeys) return kUnknownLocks;
  for (uint32_t i = 0; i < count; ++i) all_keys[key_count + i] = keys[i];
  sets[set_count] = {key_count, count};
  key_count += count;
  table[at] = set_count;
  return set_count++;
}

}  // namespace

bool make_locksets() {
  sets = reserve_array<Set>(kMostSets);
  all_keys = reserve_array<HeldKey>(kMostKeys);
  table = reserve_array<uint32_t>(kTable);
  return sets != nullptr && all_keys != nullptr && table != nullptr;
}

LockSet intern_lockset(const HeldKey* keys, uint32_t count) {
  if (count == 0) return kNoLocks;
  uint32_t at = static_cast<uint32_t>(hash(keys, count) >> 32) % kTable;
  LockSet result = kUnknownLocks;
  lock.lock();
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kTable) {
    if (table[at] == 0) {
      result = add(at, keys, count);
      break;
    }
    if (same(sets[table[at]], keys, count)) {
      result = table[at];
      break;
    }
  }
  lock.unlock();
  return result;
}

const HeldKey* lockset_keys(LockSet set, uint32_t& count) {
  count = set == kUnknownLocks ? 0 : sets[set].count;
  return count == 0 ? nullptr : all_keys + sets[set].first;
}

bool included(LockSet small, LockSet large) {
  if (small == large || small == kNoLocks) return true;
  if (small == kUnknownLocks || large == kUnknownLocks) return false;
  uint32_t small_count = 0, large_count = 0;
  const HeldKey* x = lockset_keys(small, small_count);
  const HeldKey* y = lockset_keys(large, large_count);
  uint32_t j = 0;
  for (uint32_t i = 0; i < small_count; ++i) {
    while (j < large_count && y[j].lock < x[i].lock) ++j;
    if (j == large_count || y[j].lock != x[i].lock || (y[j].shared && !x[i].shared)) return false;
  }
  return true;
}

void locksets_fork_child() { lock.reset(); }

}  // namespace simrt::rt::detect
