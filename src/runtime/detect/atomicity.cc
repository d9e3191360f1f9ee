#include "detect/atomicity.h"

#include "detect/pool.h"
#include "detect/race.h"

namespace simrt::rt::detect {

uint8_t local_marks[kLocals], local_write_marks[kLocals];
uint32_t backwards_known = 1;

namespace {

struct Step {
  uint64_t cell;
  SiteInContext where;
};

// The last two accesses of a word that belong together, and the locks held from the one to the other.
struct Local {
  static constexpr uint32_t kConsidered = 4;
  uintptr_t word;
  Step first, second;
  LockSet throughout;
  uint64_t considered[kConsidered];  // accesses (see access_key) whose coming between has been looked at
};

constexpr uint32_t kReported = 1u << 14, kMostProbes = 64, kStripes = 64;

struct alignas(64) Stripe {
  runtime::SpinLock lock;
};
Stripe stripes[kStripes];
Local* locals = nullptr;  // each under its stripe

runtime::SpinLock lock;  // of everything below; taken last
uint64_t* reported = nullptr;
uint32_t count = 0;

// Ways back: from a site to one further up in the same function.
constexpr uint32_t kBackwards = 1u << 12, kMostFound = 1u << 12;
uint64_t* backwards = nullptr;
struct Found {
  Site first, second;
};
Found* found = nullptr;  // by number
Unserialisable scratch;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ b * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

Context parent_of(Context context) { return static_cast<Context>(context_table[context] >> 32); }
Site call_of(Context context) { return static_cast<Site>(context_table[context]) & ~kNoSite; }

// In one function (or in functions that it calls), the first one further up.
bool belong_together(const SiteInContext& a, const SiteInContext& b) {
  if (a.context == b.context) return a.site < b.site;
  if (a.context == kNoContext || b.context == kNoContext) return false;
  if (parent_of(a.context) == parent_of(b.context)) return call_of(a.context) < call_of(b.context);
  if (parent_of(a.context) == b.context) return call_of(a.context) < b.site;
  if (parent_of(b.context) == a.context) return a.site < call_of(b.context);
  return false;
}

uint64_t pair_key(Site first, Site second) { return (uint64_t{first} << 32 | second) + 1; }

// True when it is new. A full table has everything.
bool add_backward(uint64_t key) {
  for (uint32_t at = key * 0x9e3779b97f4a7c15u >> 52, n = 0; n < kMostProbes;
       ++n, at = (at + 1) % kBackwards) {
    if (backwards[at] == key) return false;
    if (backwards[at] != 0) continue;
    backwards[at] = key;
    return true;
  }
  return false;
}

bool is_backward(uint64_t key) {
  for (uint32_t at = key * 0x9e3779b97f4a7c15u >> 52, n = 0; n < kMostProbes;
       ++n, at = (at + 1) % kBackwards) {
    if (backwards[at] == key) return true;
    if (backwards[at] == 0) return false;
  }
  return true;
}

bool writes(uint64_t cell) { return (cell & kWrite) != 0; }

// Number of the unserialisable pattern a, other thread's b, c; 0 = serialisable.
uint32_t pattern_of(uint64_t a, uint64_t b, uint64_t c) {
  if (!writes(b)) return writes(a) && writes(c) ? 6 : 0;
  if (writes(a)) return writes(c) ? 8 : 5;
  return writes(c) ? 7 : 4;
}

LockSet held_throughout(const Thread& thread, uint64_t since) {
  HeldKey keys[kMostHeld];
  uint32_t n = 0;
  for (uint32_t i = 0; i < thread.held_count; ++i) {
    if (thread.held[i].since > since) continue;
    uint32_t at = n++;
    for (; at > 0 && keys[at - 1].lock > thread.held[i].key.lock; --at) keys[at] = keys[at - 1];
    keys[at] = thread.held[i].key;
  }
  return intern_lockset(keys, n);
}

// Under the lock.
bool first_time(const Step& a, const Step& b, const Step& c, uint32_t pattern) {
  uint64_t key = mix(mix(mix(a.where.site, b.where.site), c.where.site), pattern);
  if (key == 0) key = 1;
  for (uint32_t at = key % kReported, n = 0; n < kMostProbes; ++n, at = (at + 1) % kReported) {
    if (reported[at] == key) return false;
    if (reported[at] != 0) continue;
    reported[at] = key;
    return true;
  }
  return false;
}

// Under the lock.
void report(const Step& a, const Step& b, const Step& c, uint32_t pattern, uintptr_t word) {
  scratch.id = count++;
  if (scratch.id < kMostFound) found[scratch.id] = {a.where.site, c.where.site};
  scratch.pattern = pattern;
  scratch.count = 3;
  const Step* const steps[] = {&a, &b, &c};
  for (uint32_t i = 0; i < 3; ++i) fill_side(scratch.accesses[i], steps[i]->cell, steps[i]->where, word);
  options.sink->unserialisable(scratch);
  if (is_backward(pair_key(a.where.site, c.where.site))) options.sink->doubt(scratch.id);
}

// `a` and `c` are one thread's, `b` another's; nothing orders it before the one or behind the other.
void consider(const Step& a, const Step& b, const Step& c, LockSet throughout, uintptr_t word) {
  const uint32_t pattern = pattern_of(a.cell, b.cell, c.cell);
  if (pattern == 0 || (a.cell & b.cell & c.cell & kBytes) == 0) return;
  const LockSet between = lockset_of(b.cell);
  if (keep_apart(throughout, between)) return;
  if (!keep_apart(lockset_of(a.cell), between) || !keep_apart(lockset_of(c.cell), between)) return;  // a race
  lock.lock();
  if (first_time(a, b, c, pattern)) report(a, b, c, pattern, word);
  lock.unlock();
}

Step step_of(uint64_t cell) {
  SiteInContext one[1] = {};
  members(place_of(cell), one, 1);
  return {cell, one[0]};
}

// The thread went from `later` up to `now`.
void note_backward(Thread& thread, const Step& now, const Step& later) {
  const Site first = now.where.site, second = later.where.site;
  if (is_backward(pair_key(first, second))) return;
  const Busy reporting(thread.reporting);
  lock.lock();
  if (add_backward(pair_key(first, second))) {
    __atomic_store_n(&backwards_known, backwards_known + 1, __ATOMIC_RELAXED);
    for (uint32_t id = 0; id < count && id < kMostFound; ++id) {
      if (found[id].first == first && found[id].second == second) options.sink->doubt(id);
    }
  }
  lock.unlock();
}

// Whether two accesses in different critical sections belong together.
bool make_a_pair(Thread& thread, const Step& earlier, const Step& now) {
  if (earlier.where.site == 0 || now.where.site == 0) return false;
  const bool pair =
      belong_together(earlier.where, now.where) && !is_backward(pair_key(earlier.where.site, now.where.site));
  if (!pair && belong_together(now.where, earlier.where)) note_backward(thread, now, earlier);
  return pair;
}

// What tells accesses apart for consider().
uint64_t access_key(const Thread& thread, uint64_t cell, Site site) {
  constexpr uint64_t kBytesAndKind = kBytes | kWrite;
  return mix(uint64_t{thread.lockset} << 32 | site, cell & kBytesAndKind) | 1;
}

// Whether the access is one that could lie between the two of `local`. Asked without its stripe first: who is
// told of an older `local` comes at the same moment as the newer one.
bool may_come_between(const Thread& thread, const Local& local, uintptr_t word, uint64_t key) {
  if (__atomic_load_n(&local.word, __ATOMIC_RELAXED) != word) return false;
  if (__atomic_load_n(&local.considered[key % Local::kConsidered], __ATOMIC_RELAXED) == key) return false;
  const uint32_t slot = slot_of(__atomic_load_n(&local.first.cell, __ATOMIC_RELAXED));
  return slot != thread.slot &&
         thread.clock[Hard][slot] < segment_of(__atomic_load_n(&local.second.cell, __ATOMIC_RELAXED));
}

}  // namespace

bool make_atomicity() {
  backwards = reserve_array<uint64_t>(kBackwards);
  found = reserve_array<Found>(kMostFound);
  if (backwards == nullptr || found == nullptr) return false;
  locals = reserve_array<Local>(kLocals);
  reported = reserve_array<uint64_t>(kReported);
  return locals != nullptr && reported != nullptr;
}

bool look_together(Thread& thread, Together& memo, uint64_t earlier, uint64_t now) {
  const uint32_t version = __atomic_load_n(&backwards_known, __ATOMIC_RELAXED);
  memo = {place_of(earlier), place_of(now), version, make_a_pair(thread, step_of(earlier), step_of(now))};
  return memo.pair;
}

void note_locked_slowly(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site,
                        uint64_t before, bool pair) {
  const uint32_t number = local_number(word);
  Local& local = locals[number];
  const uint64_t key = access_key(thread, cell, site);
  if (!pair && !may_come_between(thread, local, word, key)) return;
  const Step now = step_of(cell), earlier = step_of(before);
  const Busy reporting(thread.reporting);
  runtime::SpinLock& stripe = stripes[number % kStripes].lock;
  stripe.lock();
  if (may_come_between(thread, local, word, key)) {
    __atomic_store_n(&local.considered[key % Local::kConsidered], key, __ATOMIC_RELAXED);
    consider(local.first, now, local.second, local.throughout, word);
  }
  if (pair) {
    const LockSet throughout = held_throughout(thread, segment_of(earlier.cell));
    for (uint32_t i = 0; i < Granule::kCells; ++i) {
      const uint64_t other = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
      if (other == 0 || slot_of(other) == thread.slot || (other & (kAtomic | kRelease)) != 0) continue;
      if (thread.clock[Hard][slot_of(other)] < segment_of(other))
        consider(earlier, step_of(other), now, throughout, word);
    }
    local = {word, earlier, now, throughout, {}};
    const uint8_t mark = local_mark(thread.slot);
    __atomic_store_n(&local_marks[number], mark, __ATOMIC_RELAXED);
    __atomic_store_n(&local_write_marks[number], writes(earlier.cell) && writes(now.cell) ? mark : uint8_t{0},
                     __ATOMIC_RELAXED);
  }
  stripe.unlock();
}

void atomicity_fork_child() {
  for (auto& stripe : stripes) stripe.lock.reset();
  lock.reset();
}

}  // namespace simrt::rt::detect
