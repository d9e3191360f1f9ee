// One step of a thread, announced at the scheduling point before it.
#pragma once

#include <stdint.h>

#include "simrt/format/event.h"

namespace simrt::rt::control {

using format::EventKind;

struct Operation {
  EventKind kind = EventKind::Begin;
  uint8_t order = 0;  // as in RunEvent
  uint32_t size = 0;
  uintptr_t object = 0;
  uintptr_t pc = 0;
  uintptr_t caller = 0;  // where a library without hooks was called that makes the operation; 0 = not known
  uint64_t calls = 0;    // hash of the calls that led there (calls.h); the engine sets it
};

/// Nothing that other threads could wait for comes of it.
inline bool only_looks(EventKind kind) {
  return kind == EventKind::Read || kind == EventKind::AtomicLoad || kind == EventKind::AtomicFailed ||
         kind == EventKind::TryFailed || kind == EventKind::Yield || kind == EventKind::Fence;
}

inline bool is_memory(EventKind kind) { return kind >= EventKind::Read && kind <= EventKind::AtomicFailed; }

/// Acquires, tries or releases a lock.
inline bool is_lock(EventKind kind) { return kind >= EventKind::Lock && kind <= EventKind::TryFailed; }

inline bool writes(EventKind kind) {
  return kind == EventKind::Write || kind == EventKind::AtomicStore || kind == EventKind::AtomicUpdate;
}

/// Whether the order of the two can matter: overlapping memory with a write among them, or one
/// synchronisation object.
inline bool conflict(const Operation& a, const Operation& b) {
  if (is_memory(a.kind) && is_memory(b.kind)) {
    return (writes(a.kind) || writes(b.kind)) && a.object < b.object + b.size && b.object < a.object + a.size;
  }
  return is_memory(a.kind) == is_memory(b.kind) && a.object == b.object;
}

}  // namespace simrt::rt::control
