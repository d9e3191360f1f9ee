// What the detector knows of a thread, and the table of all of them.
#pragma once

#include <stdint.h>

#include "detect/clock.h"
#include "detect/context.h"
#include "detect/lockset.h"
#include "detect/place.h"
#include "detect/shadow.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

struct Held {
  HeldKey key;
  uint32_t depth;  // recursion
  uint64_t since;  // first segment in which it was held
};

/// What a set of locks became by one more.
struct LockSetStep {
  LockSet before, after;
  HeldKey added;
};

/// The place of a site in a context, as it was looked up.
struct KnownPlace {
  uint64_t key = 0;
  Place place = kNoPlace;
};

/// Whether two sets of locks keep their holders apart.
struct Apart {
  LockSet mine, others;
  bool kept;
};

/// A segment of another thread whose accesses a lock keeps apart from those under `mine`, where what that
/// lock handed over has been taken into Data.
struct KeptApart {
  uint64_t segment;  // 0 = none
  uint32_t slot;
  LockSet mine;
};

/// Whether two accesses in different critical sections belong together (atomicity.h), as of `version`.
struct Together {
  Place first, second;
  uint32_t version;  // 0 = nothing yet
  bool pair;
};

struct Frame {
  uintptr_t stack_pointer;
  Context outer;
};

inline constexpr uint32_t kMostFrames = 1u << 16;

/// Owned by its thread; others read `segment` only.
struct Thread {
  uint64_t base;  // cell_base(slot, segment)
  Context context;
  uint32_t depth;          // of frames; may pass kMostFrames
  bool choosy;             // Options::watch is to be asked
  bool first_site_counts;  // !Options::every_site
  Frame* frames;
  uint64_t* clock[kOrders];  // kSlots each; the own component is not kept up to date: see segment
  uint64_t segment;
  uint64_t first_segment;  // of this owner of the slot
  uint32_t slot;
  uint32_t index;
  uint32_t knowledge;  // counts what changed the clocks; never the same for two owners of a slot
  LockSet lockset;
  int ignored;  // depth of regions whose plain accesses the program asked to leave out
  uint32_t held_count;
  uint32_t hard_events;       // counts what changed the Hard clock or published it
  bool busy;                  // inside a locked part of the detector: a signal handler's hooks keep out
  bool reporting;             // the same for the report lock
  runtime::SpinLock* stripe;  // of the atomic operation under way; null = none
  bool alive;
  bool announced;    // a parent told of its creation
  Thread** watched;  // its thread-local variable
  bool has_pending;  // acquire_pending is not empty
  bool has_fence;    // release_fence is not empty
  Held held[kMostHeld];
  static constexpr unsigned kKnownPlaceBits = 10;
  KnownPlace places[1u << kKnownPlaceBits];  // by hash of site and context
  static constexpr uint32_t kSteps = 16;
  LockSetStep steps[kSteps];  // by hash of what was added; remembered because making sets takes a global lock
  Apart apart;                // what was asked last
  static constexpr uint32_t kKeptApart = 128;
  KeptApart kept_apart[kKeptApart];  // by hash of segment and slot
  static constexpr uint32_t kTogether = 256;
  Together together[kTogether];  // by hash of the sites
  Clocks acquire_pending;        // what relaxed loads saw, until an acquire fence
  Clocks release_fence;          // as of the last release fence
};

extern constinit thread_local Thread* self __attribute__((tls_model("initial-exec")));
/// The same while accesses of the thread can race with anyone's; null while it is alone.
extern constinit thread_local Thread* watched __attribute__((tls_model("initial-exec")));

/// cell_base of the thread's segment where an access that was made in it is over at once (access.h:
/// is_known); 0: not so, or not known to be so.
extern constinit thread_local uint64_t quick __attribute__((tls_model("initial-exec")));

bool make_threads();

/// A slot for the thread `index`, which starts with the Hard clock `known`: that of a joined thread which is
/// ordered before it (the two cannot race, so that they need not be told apart) or a new one, or when there
/// is none left that of any joined thread. Null when there is none.
Thread* open_thread(uint32_t index, const Clock& known);
/// The thread with this index while it has its slot; null otherwise.
Thread* thread_with_index(uint32_t index);
void close_thread(Thread* thread);  // its slot may be given to others, later
/// Index of the thread that had this slot in this segment.
uint32_t index_of(uint32_t slot, uint64_t segment);

extern Thread** thread_at;  // the latest owner of each slot < slots_used
// kSlots rings, with the locks held in the segments that cells can speak of.
extern LockSet* lockset_log;
inline constexpr uint64_t kLog = uint64_t{1} << kSegmentBits;

inline uint64_t segment_now(uint32_t slot) {
  return __atomic_load_n(&thread_at[slot]->segment, __ATOMIC_RELAXED);
}

/// Locks held when the access was made.
inline LockSet lockset_of(uint64_t cell) { return lockset_log[slot_of(cell) * kLog + segment_number(cell)]; }
void enter_era(uint32_t slot, uint64_t segment);
/// Starts the next segment, with `thread.lockset` as it is now.
inline void next_segment(Thread& thread) {
  const uint64_t segment = thread.segment + 1;
  if (segment >> kEraShift != era_of[thread.slot]) [[unlikely]]
    enter_era(thread.slot, segment);
  __atomic_store_n(&thread.segment, segment, __ATOMIC_RELAXED);
  lockset_log[thread.slot * kLog + segment % kLog] = thread.lockset;
  thread.base = cell_base(thread.slot, segment);
  quick = 0;
}

inline uint64_t place_key(const Thread& thread, Site site) { return uint64_t{thread.context} << 31 | site; }
inline KnownPlace& known_place(Thread& thread, uint64_t key) {
  return thread.places[key * 0x9e3779b97f4a7c15u >> (64 - Thread::kKnownPlaceBits)];
}
Place look_up_place(Thread& thread, KnownPlace& known, uint64_t key, Site site);
/// Where the thread is, at this site.
inline Place place_at(Thread& thread, Site site) {
  const uint64_t key = place_key(thread, site);
  KnownPlace& known = known_place(thread, key);
  return known.key == key ? known.place : look_up_place(thread, known, key, site);
}

/// Somebody was taken to know of segments that had not ended: of what these come to know later nobody can
/// tell.
extern bool knowledge_was_assumed;
/// Whether the thread knows all that was published: by itself, or by a segment that it knows of (Hard, which
/// implies the other two).
inline bool knows(const Thread& thread, const Clocks& published) {
  const Publisher& only = published.only;
  if (published.mixed) return false;
  if (only.segment == 0) return true;
  if (only.slot == thread.slot) return only.segment >= thread.first_segment;
  return thread.clock[Hard][only.slot] >= only.segment &&
         !__atomic_load_n(&knowledge_was_assumed, __ATOMIC_RELAXED);
}
/// Whether what was published is what the thread itself published last, and knows nothing more since.
inline bool renews(const Thread& thread, const Clocks& published) {
  const Publisher& only = published.only;
  return only.slot == thread.slot && only.segment >= thread.first_segment &&
         only.knowledge == thread.knowledge;
}
/// Joins what an object published into all three clocks.
void acquire_clocks(Thread& thread, const Clocks& published);
/// Publishes all three clocks, own segment included, which must end with it (next_segment). `known`: the
/// thread knows all that has been published there.
void release_clocks(Thread& thread, Clocks& published, bool known);
inline void release_clocks(Thread& thread, Clocks& published) {
  release_clocks(thread, published, knows(thread, published));
}

/// A function was entered from `caller_pc`. Frames left by longjmp lie below the new one and are dropped.
inline void push_frame(Thread& thread, uintptr_t caller_pc, uintptr_t stack_pointer) {
  while (thread.depth > 0 && thread.depth <= kMostFrames &&
         thread.frames[thread.depth - 1].stack_pointer <= stack_pointer) [[unlikely]] {
    thread.context = thread.frames[--thread.depth].outer;
  }
  if (thread.depth < kMostFrames) [[likely]] {
    thread.frames[thread.depth] = {stack_pointer, thread.context};
    thread.context = child_context(thread.context, caller_pc);
  }
  ++thread.depth;
}

/// The frame address that the innermost function was entered with; 0: not known.
inline uintptr_t innermost_frame(const Thread& thread) {
  return thread.depth == 0 || thread.depth > kMostFrames ? 0 : thread.frames[thread.depth - 1].stack_pointer;
}

inline void pop_frame(Thread& thread) {
  if (thread.depth == 0) [[unlikely]]
    return;
  if (--thread.depth < kMostFrames) [[likely]]
    thread.context = thread.frames[thread.depth].outer;
}

/// A flag of the thread is set for a scope.
class Busy {
 public:
  explicit Busy(Thread& thread) : Busy(thread.busy) {}
  explicit Busy(bool& flag) : flag_(flag) { flag_ = true; }
  ~Busy() { flag_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& flag_;
};

void threads_fork_child();

}  // namespace simrt::rt::detect
