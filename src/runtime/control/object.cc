#include "control/object.h"

#include <new>

#include "sys/memory.h"

namespace simrt::rt::control {

size_t Objects::slot_of(uintptr_t address) const {
  size_t slot = ((address >> 3) * 0x9e3779b97f4a7c15u >> 20) & (capacity_ - 1);
  while (slots_[slot] != nullptr && slots_[slot]->address != address) slot = (slot + 1) & (capacity_ - 1);
  return slot;
}

void Objects::grow() {
  Object** old = slots_;
  const size_t old_capacity = capacity_;
  capacity_ = capacity_ == 0 ? 256 : 2 * capacity_;
  slots_ = static_cast<Object**>(runtime::allocate(capacity_ * sizeof(Object*)));
  if (slots_ == nullptr) __builtin_trap();
  for (size_t i = 0; i < old_capacity; ++i)
    if (old[i] != nullptr) slots_[slot_of(old[i]->address)] = old[i];
}

Object* Objects::find(uintptr_t address) {
  if (capacity_ == 0) return nullptr;
  Object* object = slots_[slot_of(address)];
  return object != nullptr && object->kind != ObjectKind::None ? object : nullptr;
}

Object& Objects::find_or_make(uintptr_t address, ObjectKind kind, bool& fresh) {
  if (2 * (used_ + 1) > capacity_) grow();
  Object*& slot = slots_[slot_of(address)];
  if (slot == nullptr) {
    void* memory = runtime::allocate(sizeof(Object));
    if (memory == nullptr) __builtin_trap();
    slot = new (memory) Object();
    slot->address = address;
    ++used_;
  }
  fresh = slot->kind != kind;
  if (fresh) {
    slot->kind = kind;
    slot->type = LockType::Normal;
    slot->owner = nullptr;
    slot->depth = slot->readers = slot->queued = slot->arrived = 0;
    slot->count = 0;
    slot->waiters.clear();
  }
  return *slot;
}

void Objects::forget(uintptr_t address) {
  if (Object* object = find(address); object != nullptr) object->kind = ObjectKind::None;
}

}  // namespace simrt::rt::control
