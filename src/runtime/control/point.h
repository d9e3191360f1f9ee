// The hooks' and interposers' way into the engine: the mode of the process, the index of the calling thread,
// and the scheduling point. Everything is safe before the runtime's constructor ran (mode off).
#pragma once

#include <stdint.h>

#include "simrt/format/event.h"
#include "simrt/format/plan.h"

namespace simrt::rt {

using format::EventKind;
using format::RunMode;

/// Set once, before main; Off again in the program's forked children.
extern RunMode mode;
inline bool controlled() { return mode == RunMode::Control; }
/// How deep the calling thread is in calls that the runtime itself makes (OwnCalls).
extern constinit thread_local uint32_t own_calls __attribute__((tls_model("initial-exec")));
/// Whether an interposed call is the program's and of interest; else it goes straight to the real function.
inline bool detecting() { return mode != RunMode::Off && own_calls == 0; }

/// While it lives, what this thread calls is no doing of the program: neither points nor orders come of it.
/// The unwinder, for one, takes a once and locks of its own.
class OwnCalls {
 public:
  OwnCalls() { ++own_calls; }
  ~OwnCalls() { --own_calls; }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
};

/// 0 = the first thread. In modes detect and control every thread that came to life through an interposed
/// call has one; a foreign one gets it here.
uint32_t thread_index();

namespace control {

/// The calling thread is about to make a plain or atomic access, or a fence. Returns when it is its turn.
/// `order` as in RunEvent. Call it only when controlled(); cheap when nothing is to be decided. Plain
/// accesses at sites that the plan does not watch return at once. An update is announced as AtomicUpdate
/// whatever becomes of it.
void point(EventKind kind, uintptr_t address, uint64_t size, uintptr_t pc, uint8_t order = 0);

/// Behind an update announced by the last point() of this thread: it did not change memory (failed
/// compare-exchange, exchange of equal values). `failed` for a compare-exchange that failed.
void unchanged(bool failed);

/// The atomic access announced by the last point() of this thread found and left these values in memory.
void met(uint64_t found, uint64_t left);

/// The calling thread entered a function from `caller`, with its frame at `stack`; or leaves it.
void enter_function(uintptr_t caller, uintptr_t stack);
void leave_function();

/// A block of the heap begins (Allocate) or ends (Free) its life: an event without a point of its own.
void heap_event(EventKind kind, uintptr_t address, uint64_t size, uintptr_t pc);

}  // namespace control
}  // namespace simrt::rt
