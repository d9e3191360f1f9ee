#include "detect/access.h"
#include "detect/atomicity.h"
#include "detect/detector.h"
#include "detect/heap.h"
#include "detect/lock_order.h"
#include "detect/objects.h"
#include "detect/race.h"

namespace simrt::rt::detect {

void release_memory(Thread& thread, uintptr_t address, uint64_t size, uintptr_t pc);  // access.cc

namespace {

constexpr uint32_t kMostWaiting = 1u << 16;

bool started = false;

// What a parent published for a child that has not started yet, by the child's index; a ring.
struct Birth {
  uint32_t child;
  bool full;
  Clocks clocks;
};
runtime::SpinLock birth_lock;
Birth* births = nullptr;

// The kernel's, or a library's thread whose creation nobody saw. That it knows all that happened before is
// the assumption which invents no race.
void know_everything(Thread& thread) {
  const uint32_t count = __atomic_load_n(&slots_used, __ATOMIC_ACQUIRE);
  ++thread.knowledge;
  __atomic_store_n(&knowledge_was_assumed, true, __ATOMIC_RELAXED);
  for (uint32_t slot = 0; slot < count; ++slot) {
    const uint64_t segment = segment_now(slot);
    for (auto* clock : thread.clock) clock[slot] = segment;
  }
}

void publish_birth(Thread& thread, uint32_t child) {
  birth_lock.lock();
  Birth& birth = births[child % kMostWaiting];
  birth.child = child;
  birth.full = true;
  birth.clocks.clear();
  release_clocks(thread, birth.clocks);
  birth_lock.unlock();
  next_segment(thread);
}

// Threads that are not known to be over: a thread that is the only one, with all others joined, cannot race
// with anyone. What was before is ordered before it, and whoever it creates comes after it.
uint32_t not_joined = 1;

void come_alone() {
  quick = 0;
  watched = __atomic_load_n(&not_joined, __ATOMIC_ACQUIRE) == 1 ? nullptr : self;
}

// Nobody is alone any more, and nobody else will say so.
void wake_watchers() {
  __atomic_add_fetch(&not_joined, 1, __ATOMIC_ACQ_REL);
  for (uint32_t slot = 0; slot < slots_used; ++slot) {
    Thread* thread = thread_at[slot];
    if (thread->alive && thread->watched != nullptr)
      __atomic_store_n(thread->watched, thread, __ATOMIC_RELEASE);
  }
}

// On the thread itself.
void watch_from_here(Thread& thread) {
  thread.watched = &watched;
  thread.choosy = options.watch != nullptr;
  thread.first_site_counts = !options.every_site;
}

Thread* be_born(uint32_t index) {
  birth_lock.lock();
  Birth& birth = births[index % kMostWaiting];
  const bool found = birth.full && birth.child == index;
  if (found) birth.clocks.settle();
  Thread* thread = open_thread(index, found ? birth.clocks.of[Hard] : Clock{});
  if (thread != nullptr) {
    thread->announced = found;
    watch_from_here(*thread);
  }
  if (found && thread != nullptr) acquire_clocks(*thread, birth.clocks);
  if (found) birth.full = false;
  birth_lock.unlock();
  if (!found && thread != nullptr) {
    know_everything(*thread);
    wake_watchers();
  }
  return thread;
}

void set_lockset(Thread& thread) {
  if (thread.held_count == 0) {
    thread.lockset = kNoLocks;
    return next_segment(thread);
  }
  HeldKey keys[kMostHeld];
  uint32_t count = 0;
  for (uint32_t i = 0; i < thread.held_count; ++i) {  // insertion sort: few, and nearly sorted
    uint32_t at = count++;
    for (; at > 0 && keys[at - 1].lock > thread.held[i].key.lock; --at) keys[at] = keys[at - 1];
    keys[at] = thread.held[i].key;
  }
  thread.lockset = intern_lockset(keys, count);
  next_segment(thread);
}

// The thread has got the lock that is the last one of `held`.
void add_to_lockset(Thread& thread) {
  const HeldKey& added = thread.held[thread.held_count - 1].key;
  LockSetStep& step = thread.steps[(added.lock ^ added.site) % Thread::kSteps];
  const LockSet before = thread.lockset;
  if (step.after != kNoLocks && step.before == before && step.added == added) {
    thread.lockset = step.after;
    next_segment(thread);
    return;
  }
  set_lockset(thread);
  if (before != kUnknownLocks && thread.lockset != kUnknownLocks) step = {before, thread.lockset, added};
}

Held* find_held(Thread& thread, LockId lock) {
  for (uint32_t i = thread.held_count; i-- > 0;) {
    if (thread.held[i].key.lock == lock) return &thread.held[i];
  }
  return nullptr;
}

bool is_own(const Thread& thread, const Releaser& releaser) {
  return releaser.who == thread.slot + 1 && releaser.segment >= thread.first_segment;
}

void acquire_lock_clocks(Thread& thread, const Object& object, LockMode mode) {
  if (!is_own(thread, object.writer)) {
    ++thread.knowledge;
    join_into(thread.clock[Full], object.clocks, Full);
    join_into(thread.clock[Data], object.clocks, Data);
  }
  if (mode == LockMode::Shared || object.reader.who == Releaser::kNobody || is_own(thread, object.reader))
    return;
  ++thread.knowledge;
  join_into(thread.clock[Full], object.read_full);
  join_into(thread.clock[Data], object.read_data);
}

// What a reader publishes comes to what the others did; a writer knows all of it.
void release_lock_clocks(const Thread& thread, Object& object, bool shared, bool acquired) {
  object.clocks.mix();
  Clock& full = shared ? object.read_full : object.clocks.of[Full];
  Clock& data = shared ? object.read_data : object.clocks.of[Data];
  Releaser& releaser = shared ? object.reader : object.writer;
  full.raise(thread.slot, thread.segment);
  if (is_own(thread, releaser) && releaser.knowledge == thread.knowledge) {
    releaser.segment = thread.segment;
    return;
  }
  full.join(thread.clock[Full], slots_used);
  data.join(thread.clock[Data], slots_used);
  const bool several =
      !acquired || (shared && releaser.who != Releaser::kNobody && !is_own(thread, releaser));
  releaser = {several ? Releaser::kSeveral : thread.slot + 1, thread.knowledge, thread.segment};
  if (shared || !acquired) return;
  object.read_full.clear();
  object.read_data.clear();
  object.reader = {};
}

}  // namespace

bool start(const Options& given) {
  if (started) return true;
  options = given;
  options.partial = given.partial || given.watch != nullptr;
  births = reserve_array<Birth>(kMostWaiting);
  if (births == nullptr || !make_shadow() || !make_contexts() || !make_places() || !make_locksets() ||
      !make_objects() || !make_threads() || !make_heap() || !make_races() || !make_lock_order() ||
      !make_atomicity()) {
    return false;
  }
  self = open_thread(0, Clock{});
  if (self == nullptr) return false;
  watch_from_here(*self);
  return started = true;
}

void fork_child() {
  pool_fork_child();
  contexts_fork_child();
  places_fork_child();
  locksets_fork_child();
  objects_fork_child();
  threads_fork_child();
  races_fork_child();
  lock_order_fork_child();
  atomicity_fork_child();
  birth_lock.reset();
  if (self != nullptr) self->busy = false;
}

void thread_created(uint32_t child, uintptr_t) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  publish_birth(*thread, child);
  __atomic_add_fetch(&not_joined, 1, __ATOMIC_ACQ_REL);
  watched = thread;
}

void thread_started(uint32_t index) {
  if (!started || self != nullptr) return;
  self = watched = be_born(index);  // null: too many at once, this one is not watched
}

void thread_ended() {
  Thread* thread = self;
  if (thread == nullptr) return;
  self = watched = nullptr;
  thread->watched = nullptr;
  thread->alive = false;
  next_segment(*thread);
}

void thread_joined(uint32_t child, uintptr_t) {
  Thread* thread = self;
  Thread* other = thread_with_index(child);
  if (thread == nullptr || other == nullptr || thread->busy) return;
  const Busy busy(*thread);
  ++thread->knowledge;
  for (uint32_t i = 0; i < kOrders; ++i) {
    for (uint32_t slot = 0; slot < slots_used; ++slot) {
      uint64_t& mine = thread->clock[i][slot];
      if (mine < other->clock[i][slot]) mine = other->clock[i][slot];
    }
    thread->clock[i][other->slot] = other->segment;
  }
  close_thread(other);
  if (other->announced) {
    __atomic_sub_fetch(&not_joined, 1, __ATOMIC_ACQ_REL);
    come_alone();
  }
}

bool is_alone() { return __atomic_load_n(&not_joined, __ATOMIC_ACQUIRE) == 1; }

void thread_memory(uintptr_t address, uint64_t size) {
  if (self == nullptr) return;
  clear_shadow(address, size);
}

namespace {

// A block that will be accessed, and is not so large that its end may never be.
constexpr uint64_t kMostPrepared = 1u << 16;

}  // namespace

void allocated(uintptr_t address, uint64_t size, uintptr_t pc) {
  Thread* thread = self;
  if (!started || address == 0) return;
  clear_shadow(address, (size + 7) & ~uint64_t{7});
  if (!options.partial && size <= kMostPrepared) prepare_shadow(address, size);
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  forget_objects(address, size);
  forget_races(address, size);
  enter_block(*thread, address, size, pc);
}

void freed(uintptr_t address, uint64_t size, uintptr_t pc) {
  constexpr uint64_t kMostChecked = 1u << 16;  // of a larger block the beginning is checked
  Thread* thread = self;
  if (thread == nullptr || thread->busy || address == 0) return;
  if (watched != nullptr) release_memory(*thread, address, size < kMostChecked ? size : kMostChecked, pc);
  const Busy busy(*thread);
  forget_objects(address, size);
}

void lock_requested(uintptr_t address, LockMode mode, uintptr_t pc) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy || thread->held_count == 0 || !options.lock_cycles) return;
  const Busy busy(*thread);
  LockId lock = 0;
  {
    const ObjectScope scope(address);
    Object* object = scope.find_or_make();
    if (object != nullptr) lock = lock_of(*object);
  }
  if (lock == 0 || find_held(*thread, lock) != nullptr) return;
  note_request(*thread, {lock, mode == LockMode::Shared, site_of(pc), thread->context});
}

void lock_acquired(uintptr_t address, LockMode mode, bool, uintptr_t pc) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  LockId lock = 0;
  {
    const ObjectScope scope(address);
    Object* object = scope.find_or_make();
    if (object == nullptr) return;
    lock = lock_of(*object);
    if (lock == 0) return;
    acquire_lock_clocks(*thread, *object, mode);
  }
  Held* held = find_held(*thread, lock);
  if (held != nullptr) {
    ++held->depth;
    return;
  }
  if (thread->held_count == kMostHeld) return;
  const HeldKey key = {lock, mode == LockMode::Shared, site_of(pc), thread->context};
  thread->held[thread->held_count++] = {key, 1, thread->segment + 1};
  add_to_lockset(*thread);
}

void lock_released(uintptr_t address, LockMode mode, uintptr_t) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  const ObjectScope scope(address);
  Object* object = scope.find_or_make();
  if (object == nullptr) return;
  Held* held = find_held(*thread, object->lock);
  if (held != nullptr && --held->depth > 0) return;
  release_lock_clocks(*thread, *object, held != nullptr ? held->key.shared : mode == LockMode::Shared,
                      held != nullptr);
  if (held == nullptr) {  // another thread's lock: an order of this execution all the same
    next_segment(*thread);
    return;
  }
  for (Held* end = thread->held + --thread->held_count; held < end; ++held) *held = held[1];
  set_lockset(*thread);
}

void lock_destroyed(uintptr_t address) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  forget_objects(address, 1);
}

void released(uintptr_t address) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy) return;
  const Busy busy(*thread);
  const ObjectScope scope(address);
  Object* object = scope.find_or_make();
  if (object == nullptr) return;
  release_clocks(*thread, object->clocks);
  object->writer = {};
  next_segment(*thread);
}

void acquired(uintptr_t address) {
  Thread* thread = self;
  if (thread == nullptr || thread->busy || !may_have_object(address)) return;
  const Busy busy(*thread);
  const ObjectScope scope(address);
  const Object* object = scope.find();
  if (object != nullptr) acquire_clocks(*thread, object->clocks);
}

void enter(uintptr_t caller_pc) {
  if (self != nullptr) push_frame(*self, caller_pc, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
}

void leave() {
  if (self != nullptr) pop_frame(*self);
}

}  // namespace simrt::rt::detect
