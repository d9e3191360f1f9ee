// What the detector knows of a thread, and the table of all of them.
#pragma once

#include <stdint.h>

#include "detect/clock.h"
#include "detect/context.h"
#include "detect/lockset.h"
#include "detect/shadow.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

struct Held {
  HeldKey key;
  uint32_t depth;  // recursion
  uint64_t since;  // first segment in which it was held
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
  uint32_t depth;  // of frames; may pass kMostFrames
  Frame* frames;
  uint64_t* clock[kOrders];  // kSlots each; the own component is not kept up to date: see segment
  uint64_t segment;
  uint32_t slot;
  uint32_t index;
  LockSet lockset;
  int ignored;  // depth of regions whose plain accesses the program asked to leave out
  uint32_t held_count;
  uint32_t hard_events;       // counts what changed the Hard clock or published it
  bool busy;                  // inside a locked part of the detector: a signal handler's hooks keep out
  bool reporting;             // the same for the report lock
  runtime::SpinLock* stripe;  // of the atomic operation under way; null = none
  bool alive;
  bool has_pending;  // acquire_pending is not empty
  bool has_fence;    // release_fence is not empty
  Held held[kMostHeld];
  Clocks acquire_pending;  // what relaxed loads saw, until an acquire fence
  Clocks release_fence;    // as of the last release fence
};

extern constinit thread_local Thread* self __attribute__((tls_model("initial-exec")));

bool make_threads();

/// A slot (new, or that of a thread which has been joined) for the thread `index`; null when there is none.
Thread* open_thread(uint32_t index);
/// The thread with this index while it has its slot; null otherwise.
Thread* thread_with_index(uint32_t index);
void close_thread(Thread* thread);  // its slot may be given to others, later
/// Index of the thread that had this slot in this segment.
uint32_t index_of(uint32_t slot, uint64_t segment);

/// The segment that the owner of `slot` is in.
uint64_t segment_now(uint32_t slot);

/// Locks held in a segment; kUnknownLocks when it is too long ago.
LockSet lockset_of(uint64_t cell);
/// Starts the next segment, with `thread.lockset` as it is now.
void next_segment(Thread& thread);

/// Joins what `object` published into all three clocks.
void acquire_clocks(Thread& thread, const Clocks& published);
/// Publishes all three clocks, own segment included.
void release_clocks(Thread& thread, Clocks& published);

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
