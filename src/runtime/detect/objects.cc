#include "detect/objects.h"

#include "detect/pool.h"

namespace simrt::rt::detect {

ObjectStripe object_stripes[kObjectStripes];
Object** object_buckets = nullptr;
uint8_t* object_words = nullptr;

namespace {

constexpr unsigned kLineBits = 18;
constexpr uint32_t kLines = 1u << kLineBits, kMostLocks = 1u << 24;

uint8_t* lines = nullptr;  // 1 = an object may lie in a 64-byte line with this hash
uintptr_t* lock_addresses = nullptr;
uint32_t lock_count = 1;

uint8_t& line_of(uintptr_t address) { return lines[near_index(address >> 6, kLineBits)]; }
bool line_may_have_object(uintptr_t line) { return __atomic_load_n(&line_of(line), __ATOMIC_ACQUIRE) != 0; }

void destroy(Object* object) {
  object->clocks.release();
  object->read_full.release();
  object->read_data.release();
  give_back(object, sizeof *object);
}

void forget_word(uintptr_t word, uintptr_t begin, uintptr_t end) {
  const ObjectScope scope(word);
  for (Object** link = &object_buckets[object_bucket(word)]; *link != nullptr;) {
    Object* object = *link;
    if ((object->address & ~uintptr_t{7}) == word && object->address >= begin && object->address < end) {
      *link = object->next;
      destroy(object);
    } else {
      link = &object->next;
    }
  }
}

}  // namespace

bool make_objects() {
  object_buckets = reserve_array<Object*>(1u << kBucketBits);
  lines = reserve_array<uint8_t>(kLines);
  object_words = reserve_array<uint8_t>(1u << kWordBits);
  lock_addresses = reserve_array<uintptr_t>(kMostLocks);
  return object_words != nullptr && object_buckets != nullptr && lines != nullptr &&
         lock_addresses != nullptr;
}

Object* make_object(uint32_t bucket, uintptr_t address) {
  auto* object = static_cast<Object*>(take(sizeof(Object)));
  if (object == nullptr) return nullptr;
  Object*& head = object_buckets[bucket];
  object->address = address;
  object->next = head;
  head = object;
  __atomic_store_n(&line_of(address), uint8_t{1}, __ATOMIC_RELEASE);
  __atomic_store_n(&object_word(address), uint8_t{1}, __ATOMIC_RELEASE);
  return object;
}

LockId lock_of(Object& object) {
  if (object.lock != 0) return object.lock;
  const uint32_t id = __atomic_fetch_add(&lock_count, 1, __ATOMIC_RELAXED);
  if (id >= kMostLocks) {
    __atomic_store_n(&lock_count, kMostLocks, __ATOMIC_RELAXED);
    return 0;
  }
  lock_addresses[id] = object.address;
  object.lock = id;
  return id;
}

uintptr_t lock_address(LockId lock) { return lock_addresses[lock]; }

void forget_objects(uintptr_t begin, uint64_t size) {
  const uintptr_t end = begin + size;
  for (uintptr_t line = begin & ~uintptr_t{63}; line < end; line += 64) {
    if (!line_may_have_object(line)) continue;
    for (uintptr_t word = line; word < line + 64; word += 8) {
      if (word + 8 > begin && word < end && may_have_object(word)) forget_word(word, begin, end);
    }
  }
}

void objects_fork_child() {
  for (auto& stripe : object_stripes) stripe.lock.reset();
}

}  // namespace simrt::rt::detect
