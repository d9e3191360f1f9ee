#include "control/point.h"

#include "control/engine.h"
#include "emit/run_file.h"

namespace simrt::rt {

constinit RunMode mode = RunMode::Off;
constinit thread_local uint32_t own_calls = 0;

uint32_t thread_index() {
  const control::Thread* self = control::current_thread;
  return self != nullptr ? self->index : format::kRunNone;
}

namespace control {

void point(EventKind kind, uintptr_t address, uint64_t size, uintptr_t pc, uint8_t order) {
  Thread* self = current_thread;
  if (self == nullptr || self != engine.running || self->inside != 0) [[unlikely]] {
    if (!engine.enter(self)) return;
  }
  if (self->pending_change) {
    ++engine.changes;
    self->spin.reset();
    self->pending_change = false;
  }
  bool spins = self->spin_due;
  if (only_looks(kind)) {
    spins |= self->spin.look(pc, address);
  } else {
    self->pending_change = true;
  }
  const bool watched = kind > EventKind::Write || !engine.plan.watch.filters() || engine.plan.watch.has(pc);
  if (!watched && !spins) {
    if (engine.plan.header.flags != 0) [[unlikely]]
      engine.note_unwatched(
          {kind, order, size > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(size), address, pc});
    return;
  }
  ++engine.points;
  if (engine.points < engine.next_stop && !spins) [[likely]] {
    if (kind == EventKind::AtomicUpdate) {
      self->operation.pc = pc;
      self->operation.object = address;
    }
    return;
  }
  self->operation = {.kind = kind,
                     .order = order,
                     .size = size > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(size),
                     .object = address,
                     .pc = pc,
                     .calls = self->calls.hash()};
  if (spins) {
    self->spinning = true;
    self->spin_mark = engine.changes;
    self->spin_due = false;
  }
  engine.stop(self, spins);
}

void unchanged(bool failed) {
  Thread* self = current_thread;
  if (self == nullptr || self != engine.running || self->inside != 0) return;
  self->pending_change = false;
  if (self->spin.look(self->operation.pc, self->operation.object)) self->spin_due = true;
  if (failed) engine.amend(EventKind::AtomicFailed);
}

namespace {

uint32_t short_hash(uint64_t value) {
  const auto hash = static_cast<uint32_t>(((value + 1) * 0x9e3779b97f4a7c15u) >> 48);
  return hash == 0 ? 1 : hash;
}

}  // namespace

void met(uint64_t found, uint64_t left) {
  const Thread* self = current_thread;
  if (self == nullptr || self != engine.running || self->inside != 0) return;
  if (engine.records_events()) engine.note_value(short_hash(found) | short_hash(left) << 16);
}

void enter_function(uintptr_t caller, uintptr_t stack) {
  if (Thread* self = current_thread; self != nullptr) self->calls.enter(caller, stack);
}

void leave_function() {
  if (Thread* self = current_thread; self != nullptr) self->calls.leave();
}

void heap_event(EventKind kind, uintptr_t address, uint64_t size, uintptr_t pc) {
  const Thread* self = current_thread;
  if (self == nullptr || self != engine.running) return;
  const auto bytes = size > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(size);
  engine.note({kind, 0, bytes, address, pc});
}

}  // namespace control
}  // namespace simrt::rt
