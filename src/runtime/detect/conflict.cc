#include "detect/conflict.h"

#include "detect/objects.h"
#include "detect/race.h"

namespace simrt::rt::detect {
namespace {

// Two conflicting accesses under a common lock: its hand-over passed data on, so it is an order that stays.
// Inside an atomic operation, which holds a stripe, another one is taken only if that is possible at once.
[[gnu::noinline]] void keep_hand_over(Thread& thread, LockSet mine, LockSet others) {
  common_locks(mine, others, [&](LockId lock) {
    const uintptr_t address = lock_address(lock);
    const uint32_t bucket = object_bucket(address);
    runtime::SpinLock& stripe = bucket_lock(bucket);
    const bool inside = &stripe == thread.stripe;
    if (thread.stripe == nullptr) {
      stripe.lock();
    } else if (!inside && !stripe.try_lock()) {
      return;
    }
    const Object* object = find_object(bucket, address);
    if (object != nullptr && object->lock == lock) {
      ++thread.knowledge;
      join_into(thread.clock[Data], object->clocks, Full);
      join_into(thread.clock[Data], object->read_full);
    }
    if (!inside) stripe.unlock();
  });
}

}  // namespace

bool look_apart(Thread& thread, uint64_t other, KeptApart& known) {
  const LockSet others = lockset_of(other);
  if (others == kNoLocks) return false;
  Apart& memo = thread.apart;
  if (memo.mine != thread.lockset || memo.others != others)
    memo = {thread.lockset, others, keep_apart(thread.lockset, others)};
  if (!memo.kept) return false;
  const uint64_t segment = segment_of(other);
  const uint64_t& data = thread.clock[Data][slot_of(other)];
  if (data < segment && (!thread.busy || thread.stripe != nullptr)) {
    const bool was_busy = thread.busy;
    thread.busy = true;
    keep_hand_over(thread, thread.lockset, others);
    thread.busy = was_busy;
  }
  if (data >= segment) known = {segment, slot_of(other), thread.lockset};
  return true;
}

void check(Thread& thread, uint64_t cell, uint64_t other, uintptr_t word) {
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

bool is_settled(Thread& thread, const Granule& granule, uint32_t foreign, uint64_t cell) {
  for (; foreign != 0; foreign &= foreign - 1) {
    const uint64_t other = __atomic_load_n(&granule.cell[__builtin_ctz(foreign)], __ATOMIC_RELAXED);
    if (is_ordered(thread, other)) continue;
    if (conflict(other, cell)) {
      if (!is_kept_apart(thread, other)) return false;
    } else if (passes_on(other, cell)) {
      is_kept_apart(thread, other);
    }
  }
  return true;
}

}  // namespace simrt::rt::detect
