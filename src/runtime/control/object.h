// Synchronisation objects as the engine models them, found by their address.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "control/thread.h"

namespace simrt::rt::control {

enum class ObjectKind : uint8_t { None, Lock, ReadWriteLock, Condition, Semaphore, Barrier, Futex };
enum class LockType : uint8_t { Normal, Recursive, ErrorChecking, Spin };

struct Object {
  uintptr_t address = 0;
  ObjectKind kind = ObjectKind::None;
  LockType type = LockType::Normal;
  Thread* owner = nullptr;          // semaphore: who took a unit last and gave none back
  uint32_t depth = 0;               // of a recursive lock
  uint32_t readers = 0;             // of a read-write lock
  uint32_t queued = 0;              // writers that keep new readers out (writer-preferring lock)
  int64_t count = 0;                // semaphore: value; barrier: threads that must come
  uint32_t arrived = 0;             // barrier
  uint64_t round = 0;               // barrier
  uint32_t asking = 0;              // threads that wait for it
  runtime::Array<Thread*> waiters;  // condition variable, futex: in the order in which they came
};

class Objects {
 public:
  /// Null when unknown.
  Object* find(uintptr_t address);
  /// A fresh one when unknown or of another kind (the memory was used again); `fresh` says so.
  Object& find_or_make(uintptr_t address, ObjectKind kind, bool& fresh);
  void forget(uintptr_t address);

  template <class Visit>
  void for_each(Visit visit) {
    for (size_t i = 0; i < capacity_; ++i)
      if (slots_[i] != nullptr && slots_[i]->kind != ObjectKind::None) visit(*slots_[i]);
  }

 private:
  size_t slot_of(uintptr_t address) const;
  void grow();

  Object** slots_ = nullptr;  // open addressing; forgotten objects stay as places (kind None)
  size_t capacity_ = 0, used_ = 0;
};

}  // namespace simrt::rt::control
