#include "detect/atomic.h"

#include "detect/access.h"
#include "detect/race.h"

namespace simrt::rt::detect {
namespace {

void publish(Thread& thread, Object& object, AtomicKind kind, Order order) {
  object.writer = {};
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

// Under the address's lock.
void order_operation(Thread& thread, Object& object, AtomicKind kind, Order order) {
  if (kind != AtomicKind::Store) take_over(thread, object, order);
  if (kind == AtomicKind::Store || kind == AtomicKind::Update) publish(thread, object, kind, order);
}

}  // namespace

// An object is there before the value is: whoever reads the value then knows to look for it.
void AtomicOperation::enter(bool publishes) {
  thread_->busy = true;
  const uint32_t bucket = object_bucket(address_);
  thread_->stripe = &bucket_lock(bucket);
  thread_->stripe->lock();
  object_ = find_object(bucket, address_);
  if (object_ == nullptr && publishes) object_ = make_object(bucket, address_);
}

void AtomicOperation::leave() {
  thread_->stripe->unlock();
  thread_->stripe = nullptr;
  thread_->busy = false;
}

void AtomicOperation::finish(uint32_t size, AtomicKind kind, Order order, uintptr_t pc) {
  if (thread_ == nullptr) return;
  const bool stores = kind == AtomicKind::Store || kind == AtomicKind::Update;
  if (thread_->stripe == nullptr && kind != AtomicKind::Store && may_have_object(address_)) enter(false);
  const bool locked = thread_->stripe != nullptr;
  // The access belongs to the segment that a release ends: whoever acquires is ordered behind it.
  if (object_ != nullptr) order_operation(*thread_, *object_, kind, order);
  // What orders threads counts wherever it is, what races only where that was asked for.
  if (!thread_->choosy || options.wanted(pc)) {
    const uint64_t cell_kind = kAtomic | (stores ? kWrite : 0);
    for (uint32_t done = 0; done < size; done += 8)
      watch<false>(*thread_, address_ + done, size - done < 8 ? size - done : 8, cell_kind, pc);
  }
  if (!locked) return;
  if (stores && releases(order)) next_segment(*thread_);
  leave();
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
