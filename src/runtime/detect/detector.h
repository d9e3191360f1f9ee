// What the detector is told: the only way from hooks/ and intercept/ into detect/. Each function is called on
// the thread that did the thing. Release-like ones before the operation takes effect, acquire-like ones after
// it did. The detector never blocks, allocates only from sys/memory, and calls nothing of libc. Threads are
// named by the index that intercept/ gives out (0 = the first thread); `pc` is the return address of the hook
// or of the interposed call (look up pc - 1).
#pragma once

#include <stdint.h>

namespace simrt::rt::detect {

enum class LockMode : uint8_t { Exclusive, Shared };
enum class AtomicKind : uint8_t { Load, Store, Update, Failed };
/// As in <atomic>; consume counts as acquire.
enum class Order : uint8_t { Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent };

// Threads.
void thread_created(uint32_t child, uintptr_t pc);  // by the parent, before the child runs
void thread_started(uint32_t self);                 // first call on a new thread
void thread_ended();
void thread_joined(uint32_t child, uintptr_t pc);

// Memory. `access` is the hot path: one call of the compiler's hook.
void access(uintptr_t address, uint32_t size, bool write, uintptr_t pc);
void range(uintptr_t address, uint64_t size, bool write, uintptr_t pc);
void allocated(uintptr_t address, uint64_t size, uintptr_t pc);
void freed(uintptr_t address, uint64_t size, uintptr_t pc);
void atomic(uintptr_t address, uint32_t size, AtomicKind kind, Order order, uintptr_t pc);
void fence(Order order);

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
