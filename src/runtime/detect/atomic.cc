#include "detect/atomic.h"

#include "detect/access.h"
#include "detect/race.h"

namespace simrt::rt::detect {
namespace {

void publish(Thread& thread, Object& object, AtomicKind kind, Order order) {
  object.writer.who = Releaser::kNobody;
  // Whatever came before, this value is not its.
  if (kind == AtomicKind::Store && !(releases(order) && renews(thread, object.clocks))) object.clocks.clear();
  if (releases(order)) {
    const bool known = (kind == AtomicKind::Update && acquires(order)) || knows(thread, object.clocks);
    release_clocks(thread, object.clocks, known);
  } else if (thread.has_fence) {
    object.clocks.join(thread.release_fence);
  }
}

void take_over(Thread& thread, const Object& object, Order order) {
  if (acquires(order)) {
    acquire_clocks(thread, object.clocks);
    return;
  }
  if (knows(thread, object.clocks)) return;
  thread.has_pending = true;
  thread.acquire_pending.join(object.clocks);
}

// What a counter or a flag does again and again: the thread has nothing to take over from its own last act,
// and one number to publish.
bool renew(Thread& thread, Object& object, AtomicAct act) {
  if (act.kind != AtomicKind::Update || !releases(act.order) || !renews(thread, object.clocks)) return false;
  thread.hard_events += 2;
  object.clocks.only.segment = thread.segment;
  object.writer.who = Releaser::kNobody;
  return true;
}

// Under the address's lock.
void order_operation(Thread& thread, Object& object, AtomicAct act) {
  if (renew(thread, object, act)) return;
  if (act.kind != AtomicKind::Store) take_over(thread, object, act.order);
  if (act.stores()) publish(thread, object, act.kind, act.order);
}

}  // namespace

void enter_atomic_access(Thread& thread, uintptr_t address, AtomicAct act, uintptr_t pc) {
  const uint64_t cell_kind = kAtomic | (act.stores() ? kWrite : 0);
  for (uint32_t done = 0; done < act.size; done += 8)
    watch<false>(thread, address + done, act.size - done < 8 ? act.size - done : 8, cell_kind, pc);
}

// An object is there before the value is: whoever reads the value then knows to look for it.
Object* AtomicOperation::enter(Thread& thread, uintptr_t address, bool publishes) {
  thread.busy = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // no handler of this thread meets the lock
  const uint32_t bucket = object_bucket(address);
  runtime::SpinLock& stripe = bucket_lock(bucket);
  thread.stripe = &stripe;
  stripe.lock();
  Object* object = find_object(bucket, address);
  return object != nullptr || !publishes ? object : make_object(bucket, address);
}

void AtomicOperation::finish_locked(Thread& thread, Object* object, uintptr_t address, AtomicAct act,
                                    uintptr_t pc) {
  // The access belongs to the segment that a release ends: whoever acquires is ordered behind it.
  if (object != nullptr) order_operation(thread, *object, act);
  enter_where_wanted(thread, address, act, pc);
  if (act.stores() && releases(act.order)) next_segment(thread);
  thread.stripe->unlock();
  thread.stripe = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread.busy = false;
}

void fence(Order order) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  if (acquires(order) && thread->has_pending) {
    acquire_clocks(*thread, thread->acquire_pending);
    thread->acquire_pending.clear();
    thread->has_pending = false;
  }
  if (releases(order)) {
    thread->release_fence.clear();
    release_clocks(*thread, thread->release_fence);
    thread->has_fence = true;
    next_segment(*thread);
  }
}

}  // namespace simrt::rt::detect
