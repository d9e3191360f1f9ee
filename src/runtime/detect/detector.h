// What the detector is told: the only way from hooks/ and intercept/ into detect/. Each function is called on
// the thread that did the thing. Release-like ones before the operation takes effect, acquire-like ones after
// it did. The detector never blocks, allocates only from its pool, and calls nothing of libc. Threads are
// named by the index that intercept/ gives out (0 = the first thread); `pc` is the return address of the hook
// or of the interposed call (look up pc - 1).
//
// Every function does nothing before start(), and on a thread that was not announced by thread_started().
// Plain accesses and atomics, the hot paths, have headers of their own: access.h, atomic.h.
#pragma once

#include <stdint.h>

#include "detect/finding.h"
#include "detect/watch.h"

namespace simrt::rt::detect {

enum class LockMode : uint8_t { Exclusive, Shared };

struct Options {
  Sink* sink = nullptr;
  bool lock_cycles = true;
  bool atomicity = true;
  /// All sites of one segment that access the same bytes in the same way count, not the first of them only:
  /// more pairs of sites to look into, at about twice the cost.
  bool every_site = true;
  bool partial = false;  // only some accesses are seen: data handed over under a lock may go unnoticed
  /// Null: plain accesses at all sites count. Else those whose hook's return address it has (see patch.h).
  const Watch* watch = nullptr;
};

/// Makes the tables and adopts the calling thread as index 0. False when the address space has no room for
/// the shadow memory. Once a process.
bool start(const Options& options);
/// In the child of a fork, on its only thread.
void fork_child();

// Threads.
void thread_created(uint32_t child, uintptr_t pc);  // by the parent, before the child runs
void thread_started(uint32_t self);                 // first call on a new thread
void thread_ended();
void thread_joined(uint32_t child, uintptr_t pc);
/// The calling thread's stack and thread-local storage: another, dead thread may have used the memory.
void thread_memory(uintptr_t address, uint64_t size);

/// Whether no other thread runs that the detector knows of.
bool is_alone();

// Memory.
void access(uintptr_t address, uint32_t size, bool write, uintptr_t pc);
void range(uintptr_t address, uint64_t size, bool write, uintptr_t pc);
/// Heap blocks. Also mappings, which have no `freed`: allocated() again when the memory gets a new life.
void allocated(uintptr_t address, uint64_t size, uintptr_t pc);
void freed(uintptr_t address, uint64_t size, uintptr_t pc);

// Locks: requested before it may block (lock-order graph), acquired after it succeeded.
void lock_requested(uintptr_t lock, LockMode mode, uintptr_t pc);
void lock_acquired(uintptr_t lock, LockMode mode, bool tried, uintptr_t pc);
void lock_released(uintptr_t lock, LockMode mode, uintptr_t pc);
void lock_destroyed(uintptr_t lock);

// Every other order between threads (condition variables, semaphores, barriers, once flags, futexes).
void released(uintptr_t object);
void acquired(uintptr_t object);

// The shadow call stack behind reports.
void enter(uintptr_t caller_pc);
void leave();

}  // namespace simrt::rt::detect
