// Atomics under their memory orders: what an operation publishes and takes over, as in [atomics.order],
// [atomics.fences]: release sequences go on through read-modify-writes only (C++20), a relaxed store ends
// them, fences work through relaxed operations.
#pragma once

#include <stdint.h>

#include "detect/objects.h"
#include "detect/race.h"
#include "detect/thread.h"

namespace simrt::rt::detect {

enum class AtomicKind : uint8_t { Load, Store, Update, Failed };
/// As in <atomic>; consume counts as acquire.
enum class Order : uint8_t { Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent };

inline bool acquires(Order order) { return order != Order::Relaxed && order != Order::Release; }
inline bool releases(Order order) { return order != Order::Relaxed && order != Order::Acquire; }

/// What an atomic operation was, in one register.
struct AtomicAct {
  uint8_t size;
  AtomicKind kind;
  Order order;

  bool stores() const { return kind == AtomicKind::Store || kind == AtomicKind::Update; }
};

/// Enters the access where its site is watched. What orders threads counts wherever it is, what races only
/// where that was asked for.
void enter_atomic_access(Thread& thread, uintptr_t address, AtomicAct act, uintptr_t pc);
inline void enter_where_wanted(Thread& thread, uintptr_t address, AtomicAct act, uintptr_t pc) {
  if (!thread.choosy || options.watch->has(pc)) enter_atomic_access(thread, address, act, pc);
}

/// Wraps one atomic operation of the program. From construction to finish() no other operation on the address
/// takes place where that matters: clocks then follow the values. `thread` may be null (not watched).
class AtomicOperation {
 public:
  /// `order`: of success. `stores`: it may store.
  [[gnu::always_inline]] AtomicOperation(Thread* thread, uintptr_t address, Order order, bool stores)
      : thread_(thread != nullptr && !thread->busy ? thread : nullptr), address_(address) {
    if (thread_ == nullptr) return;
    const bool publishes = stores && (releases(order) || thread->has_fence);
    if (publishes || may_have_object(address)) locked_ = true, object_ = enter(*thread, address, publishes);
  }
  AtomicOperation(const AtomicOperation&) = delete;
  AtomicOperation& operator=(const AtomicOperation&) = delete;

  /// After the operation, once. `order`: that of failure where it failed.
  [[gnu::always_inline]] void finish(AtomicAct act, uintptr_t pc) {
    if (thread_ == nullptr) return;
    if (!locked_ && act.kind != AtomicKind::Store && may_have_object(address_)) [[unlikely]]
      locked_ = true, object_ = enter(*thread_, address_, false);
    if (locked_) return finish_locked(*thread_, object_, address_, act, pc);
    enter_where_wanted(*thread_, address_, act, pc);
  }

 private:
  /// Takes the lock of the address. The object there; null: there is none.
  static Object* enter(Thread& thread, uintptr_t address, bool publishes);
  static void finish_locked(Thread& thread, Object* object, uintptr_t address, AtomicAct act, uintptr_t pc);

  Thread* thread_;
  uintptr_t address_;
  bool locked_ = false;
  Object* object_ = nullptr;
};

void fence(Order order);

}  // namespace simrt::rt::detect
