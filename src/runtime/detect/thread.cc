#include "detect/thread.h"

#include "detect/pool.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

constinit thread_local Thread* self = nullptr;
constinit thread_local Thread* watched = nullptr;
constinit thread_local uint64_t quick = 0;
Thread** thread_at = nullptr;
LockSet* lockset_log = nullptr;
bool knowledge_was_assumed = false;

namespace {

constexpr uint32_t kMostIndexes = 1u << 22;

struct Tenancy {
  Tenancy* earlier;
  uint64_t first_segment;
  uint32_t index;
};

runtime::SpinLock lock;
Tenancy** tenancies = nullptr;      // by slot, latest first
uint32_t* slot_by_index = nullptr;  // slot + 1
uint32_t reusable[kSlots];          // slots of joined threads, the longest joined first
uint32_t reusable_count = 0;

// Under the lock.
Thread* make_thread(uint32_t slot) {
  auto* thread = static_cast<Thread*>(take(sizeof(Thread)));
  auto* clocks = reserve_array<uint64_t>(kOrders * kSlots);
  auto* frames = reserve_array<Frame>(kMostFrames);
  if (thread == nullptr || clocks == nullptr || frames == nullptr) return nullptr;
  for (uint32_t i = 0; i < kOrders; ++i) thread->clock[i] = clocks + i * kSlots;
  thread->frames = frames;
  thread->slot = slot;
  return thread;
}

Thread* renew(Thread* thread) {
  for (uint32_t i = 0; i < kOrders; ++i)
    for (uint32_t j = 0; j < slots_used; ++j) thread->clock[i][j] = 0;
  thread->acquire_pending.clear();
  thread->release_fence.clear();
  thread->has_pending = thread->has_fence = thread->busy = thread->reporting = false;
  thread->held_count = 0;
  thread->lockset = kNoLocks;
  thread->context = kNoContext;
  thread->depth = 0;
  return thread;
}

Thread* take_reusable(uint32_t at) {
  const uint32_t slot = reusable[at];
  for (--reusable_count; at < reusable_count; ++at) reusable[at] = reusable[at + 1];
  return renew(thread_at[slot]);
}

Thread* slot_for_new(const Clock& known) {
  for (uint32_t at = 0; at < reusable_count; ++at) {
    const uint32_t slot = reusable[at];
    if (slot < known.size && known.segments[slot] >= thread_at[slot]->segment) return take_reusable(at);
  }
  if (slots_used == kSlots) return reusable_count == 0 ? nullptr : take_reusable(0);
  Thread* thread = make_thread(slots_used);
  if (thread == nullptr) return nullptr;
  thread_at[slots_used] = thread;
  __atomic_store_n(&slots_used, slots_used + 1, __ATOMIC_RELEASE);
  return thread;
}

}  // namespace

bool make_threads() {
  thread_at = reserve_array<Thread*>(kSlots);
  tenancies = reserve_array<Tenancy*>(kSlots);
  slot_by_index = reserve_array<uint32_t>(kMostIndexes);
  lockset_log = reserve_array<LockSet>(kSlots * kLog);
  return thread_at != nullptr && tenancies != nullptr && slot_by_index != nullptr && lockset_log != nullptr;
}

Thread* open_thread(uint32_t index, const Clock& known) {
  if (index >= kMostIndexes) return nullptr;
  lock.lock();
  Thread* thread = slot_for_new(known);
  auto* tenancy = thread == nullptr ? nullptr : static_cast<Tenancy*>(take(sizeof(Tenancy)));
  if (tenancy != nullptr) {
    next_segment(*thread);
    thread->first_segment = thread->segment;
    ++thread->knowledge;
    *tenancy = {tenancies[thread->slot], thread->segment, index};
    tenancies[thread->slot] = tenancy;
    slot_by_index[index] = thread->slot + 1;
    thread->index = index;
    thread->alive = true;
  }
  lock.unlock();
  return tenancy == nullptr ? nullptr : thread;
}

Thread* thread_with_index(uint32_t index) {
  const uint32_t slot = slot_by_index != nullptr && index < kMostIndexes ? slot_by_index[index] : 0;
  if (slot == 0 || thread_at[slot - 1]->index != index) return nullptr;
  return thread_at[slot - 1];
}

void close_thread(Thread* thread) {
  lock.lock();
  if (reusable_count < kSlots) reusable[reusable_count++] = thread->slot;
  lock.unlock();
}

uint32_t index_of(uint32_t slot, uint64_t segment) {
  for (const Tenancy* t = tenancies[slot]; t != nullptr; t = t->earlier) {
    if (t->first_segment <= segment) return t->index;
  }
  return UINT32_MAX;
}

void enter_era(uint32_t slot, uint64_t segment) {
  clear_all_shadow();
  __atomic_store_n(&era_of[slot], segment >> kEraShift, __ATOMIC_RELEASE);
}

Place look_up_place(Thread& thread, KnownPlace& known, uint64_t key, Site site) {
  known = {key, make_place({site, thread.context})};
  return known.place;
}

void acquire_clocks(Thread& thread, const Clocks& published) {
  ++thread.hard_events;
  if (knows(thread, published)) return;
  ++thread.knowledge;
  for (uint32_t i = 0; i < kOrders; ++i) join_into(thread.clock[i], published, OrderKind{i});
}

void release_clocks(Thread& thread, Clocks& published, bool known) {
  ++thread.hard_events;
  Publisher& only = published.only;
  if (renews(thread, published)) {
    only.segment = thread.segment;
    return;
  }
  if (!known) published.settle();
  for (uint32_t i = 0; i < kOrders; ++i) {
    published.of[i].join(thread.clock[i], slots_used);
    if (!known) published.of[i].raise(thread.slot, thread.segment);
  }
  only = known ? Publisher{thread.segment, thread.slot, thread.knowledge} : Publisher{};
  published.mixed = !known;
}

void threads_fork_child() { lock.reset(); }

}  // namespace simrt::rt::detect
