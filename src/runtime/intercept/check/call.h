// What every interposed function of a check build starts with: is it modelled, forwarded, or watched only?
#pragma once

#include <errno.h>
#include <stdint.h>

#include "control/engine.h"
#include "control/point.h"
#include "detect/detector.h"
#include "intercept/call_chain.h"
#include "intercept/real.h"

#define SIMRT_PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace simrt::rt {

using control::engine;
using control::Object;
using control::ObjectKind;
using control::Operation;
using control::Outcome;
using control::Until;
using control::Wait;

/// The calling thread when its calls are to be modelled by the engine; null: forward them.
inline control::Thread* modelled_thread() {
  if (!controlled()) return nullptr;
  control::Thread* self = control::current_thread;
  if (self != nullptr && self == engine.running && self->inside == 0) [[likely]]
    return self;
  return engine.enter(self) ? self : nullptr;
}

/// Return addresses from the interposed function's own one outwards.
inline runtime::CallChain call_chain(uintptr_t pc) {
  const OwnCalls own;
  return runtime::capture_call_chain(reinterpret_cast<void*>(pc));
}

/// Makes a call that may block in the kernel, without the token.
template <class Call>
auto outside(control::Thread* self, uintptr_t pc, Call call) {
  engine.leave(self, pc);
  const auto result = call();
  const int error = errno;
  engine.come_back(self);
  errno = error;
  return result;
}

inline void hold(control::Thread* self, uintptr_t lock, uintptr_t pc, bool shared) {
  self->held.push({lock, pc, shared});
}
inline void let_go(control::Thread* self, uintptr_t lock) {
  for (size_t i = self->held.size(); i-- > 0;) {
    if (self->held[i].lock != lock) continue;
    for (size_t k = i; k + 1 < self->held.size(); ++k) self->held[k] = self->held[k + 1];
    self->held.pop();
    return;
  }
}

/// The thread holds it, on the read side if `shared`.
inline bool holds(const control::Thread* self, uintptr_t lock, bool shared) {
  for (size_t i = 0; i < self->held.size(); ++i)
    if (self->held[i].lock == lock && self->held[i].shared == shared) return true;
  return false;
}

/// A try that must fail because of what the thread itself has. Others can neither see nor change that, so it
/// is no step, which would stand in the log between the acquisition and theirs. Loops of such let others go
/// on.
inline int fails_by_itself(control::Thread* self, uintptr_t object, uintptr_t pc) {
  if (self->spin.look(pc, object)) engine.yield(pc);
  return EBUSY;
}

/// RunEvent::order of an operation that waits until then.
inline uint8_t mark_of(uint64_t deadline) { return deadline <= engine.now() ? format::kEventTried : 0; }

/// Whoever waits for the object looks again.
inline void changed(const Object& object) {
  if (object.asking > 0) engine.disturb();
}

template <class T>
uintptr_t address_of(const T* object) {
  return reinterpret_cast<uintptr_t>(object);
}

}  // namespace simrt::rt
