// Synchronisation objects by address: locks, atomics, condition variables and all else that orders threads.
#pragma once

#include <stdint.h>

#include "detect/clock.h"
#include "detect/lockset.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

/// Whose clocks a lock has: then that thread has nothing to take over, and little to publish. Nobody's, when
/// something else than a lock operation has changed them.
struct Releaser {
  static constexpr uint32_t kNobody = 0, kSeveral = UINT32_MAX;
  uint32_t who = kNobody;  // slot + 1
  uint32_t knowledge = 0;  // Thread::knowledge then
  uint64_t segment = 0;
};

/// What most operations ask for lies in its first line.
struct Object {
  uintptr_t address;
  Object* next;
  LockId lock;                 // 0 = has not been used as a lock
  Clocks clocks;               // what releases published; of a lock: what its writers did
  Clock read_full, read_data;  // of a lock: what its readers published since, which orders writers only
  Releaser writer, reader;
};

bool make_objects();

/// Where the objects of an address are, and the lock that guards them. All objects of one 8-byte word are in
/// one bucket.
inline constexpr unsigned kBucketBits = 16;
inline constexpr uint32_t kObjectStripes = 1u << 10;
struct alignas(64) ObjectStripe {
  runtime::SpinLock lock;
};
extern ObjectStripe object_stripes[kObjectStripes];
extern Object** object_buckets;
inline uint32_t object_bucket(uintptr_t address) { return near_index(address >> 3, kBucketBits); }
inline runtime::SpinLock& bucket_lock(uint32_t bucket) {
  return object_stripes[bucket % kObjectStripes].lock;
}

/// Under the lock. Null when there is no memory.
Object* make_object(uint32_t bucket, uintptr_t address);
inline Object* find_object(uint32_t bucket, uintptr_t address) {
  for (Object* object = object_buckets[bucket]; object != nullptr; object = object->next)
    if (object->address == address) return object;
  return nullptr;
}

/// Holds the lock of an address for a scope.
class ObjectScope {
 public:
  explicit ObjectScope(uintptr_t address)
      : address_(address), bucket_(object_bucket(address)), stripe_(bucket_lock(bucket_)) {
    stripe_.lock();
  }
  ~ObjectScope() { stripe_.unlock(); }
  ObjectScope(const ObjectScope&) = delete;
  ObjectScope& operator=(const ObjectScope&) = delete;

  Object* find() const { return find_object(bucket_, address_); }
  /// Null when there is no memory.
  Object* find_or_make() const {
    Object* object = find();
    return object != nullptr ? object : make_object(bucket_, address_);
  }

 private:
  uintptr_t address_;
  uint32_t bucket_;
  runtime::SpinLock& stripe_;
};

/// False: certainly no object in the 8 bytes of `address`. Needs no scope.
inline constexpr unsigned kWordBits = 20;
extern uint8_t* object_words;  // by hash of the word's address: 1 = there may be one
inline uint8_t& object_word(uintptr_t address) { return object_words[near_index(address >> 3, kWordBits)]; }
inline bool may_have_object(uintptr_t address) {
  return __atomic_load_n(&object_word(address), __ATOMIC_ACQUIRE) != 0;
}

/// A number for the lock that `object` is; under its scope.
LockId lock_of(Object& object);
uintptr_t lock_address(LockId lock);

/// The memory gets a new life: its objects are forgotten.
void forget_objects(uintptr_t begin, uint64_t size);

void objects_fork_child();

}  // namespace simrt::rt::detect
