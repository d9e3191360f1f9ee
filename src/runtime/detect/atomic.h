// Atomics under their memory orders: what an operation publishes and takes over, as in [atomics.order],
// [atomics.fences]: release sequences go on through read-modify-writes only (C++20), a relaxed store ends
// them, fences work through relaxed operations.
#pragma once

#include <stdint.h>

#include "detect/objects.h"
#include "detect/thread.h"

namespace simrt::rt::detect {

enum class AtomicKind : uint8_t { Load, Store, Update, Failed };
/// As in <atomic>; consume counts as acquire.
enum class Order : uint8_t { Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent };

inline bool acquires(Order order) { return order != Order::Relaxed && order != Order::Release; }
inline bool releases(Order order) { return order != Order::Relaxed && order != Order::Acquire; }

/// Wraps one atomic operation of the program. From construction to finish() no other operation on the address
/// takes place where that matters: clocks then follow the values. `thread` may be null (not watched).
class AtomicOperation {
 public:
  /// `order`: of success. `stores`: it may store.
  AtomicOperation(Thread* thread, uintptr_t address, Order order, bool stores)
      : thread_(thread != nullptr && !thread->busy ? thread : nullptr), address_(address) {
    if (thread_ == nullptr) return;
    if (!may_have_object(address) && !(stores && (releases(order) || thread->has_fence))) return;
    enter(stores && (releases(order) || thread->has_fence));
  }
  AtomicOperation(const AtomicOperation&) = delete;
  AtomicOperation& operator=(const AtomicOperation&) = delete;

  /// After the operation, once. `order`: that of failure where it failed.
  void finish(uint32_t size, AtomicKind kind, Order order, uintptr_t pc);

 private:
  void enter(bool publishes);
  void leave();

  Thread* thread_;
  uintptr_t address_;
  Object* object_ = nullptr;  // looked up at enter(); null: there is none
};

void fence(Order order);

}  // namespace simrt::rt::detect
