// What the runtime can see happen, in one list: the kinds of events of an execution. The engine's scheduling
// points, the recorded event log, schedules for replay and the host's model of an execution all speak in
// these kinds.
#pragma once

#include <stdint.h>

namespace simrt::format {

// X(name, number, meaning). Numbers are part of the formats: append only.
#define SIMRT_EVENT_KINDS(X)                                                               \
  X(Read, 1, "plain read of memory")                                                       \
  X(Write, 2, "plain write of memory")                                                     \
  X(AtomicLoad, 3, "atomic load")                                                          \
  X(AtomicStore, 4, "atomic store")                                                        \
  X(AtomicUpdate, 5, "atomic read-modify-write that wrote")                                \
  X(AtomicFailed, 6, "compare-exchange that failed: a read")                               \
  X(Fence, 7, "atomic fence")                                                              \
  X(Lock, 8, "mutex, spin lock or write side of a read-write lock acquired")               \
  X(Unlock, 9, "the same released")                                                        \
  X(LockShared, 10, "read side of a read-write lock acquired")                             \
  X(UnlockShared, 11, "the same released")                                                 \
  X(TryFailed, 12, "try-lock or timed lock that did not get the lock")                     \
  X(Wait, 13, "condition variable or futex: gave up the lock and went to sleep")           \
  X(Woken, 14, "woke from such a sleep by a notification")                                 \
  X(TimedOut, 15, "woke from such a sleep by its time limit")                              \
  X(Notify, 16, "one waiter notified")                                                     \
  X(NotifyAll, 17, "all waiters notified")                                                 \
  X(SemaphorePost, 18, "semaphore, latch or barrier count moved so that others may go on") \
  X(SemaphoreWait, 19, "passed a semaphore, latch or barrier")                             \
  X(Create, 20, "thread created; object = the new thread's index")                         \
  X(Begin, 21, "first event of a thread")                                                  \
  X(End, 22, "last event of a thread")                                                     \
  X(Join, 23, "thread joined; object = its index")                                         \
  X(OnceBegin, 24, "entered the initialiser of a once flag or a thread-safe static")       \
  X(OnceEnd, 25, "left it, or passed a flag whose initialiser had run")                    \
  X(Allocate, 26, "memory allocated; object = address, size = bytes")                      \
  X(Free, 27, "memory freed; object = address")                                            \
  X(Yield, 28, "yield, sleep or a spin loop's forced yield")                               \
  X(External, 29, "a call that may block in the kernel")

enum class EventKind : uint16_t {
#define X(name, number, meaning) name = (number),
  SIMRT_EVENT_KINDS(X)
#undef X
};

}  // namespace simrt::format
