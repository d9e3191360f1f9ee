// Threads that are for a while, or came from, where the engine cannot see.
#include <new>

#include "control/engine.h"
#include "emit/run_file.h"
#include "sys/futex.h"

namespace simrt::rt::control {

void Engine::leave(Thread* self, uintptr_t pc) {
  const Inside inside(self);
  if (self->pending_change) ++changes;
  self->pending_change = false;
  self->operation = {EventKind::External, 0, 0, 0, pc};
  ++points;
  self->standing = Standing::Outside;
  self->returned = false;
  ++outside_;
  admit();
  if (gather(nullptr) == 0) {  // nobody is there to take the token; should that change, the watchdog tells
    self->standing = Standing::Alive;
    --outside_;
    return;
  }
  Thread* next = pick(nullptr, false);
  hand_over(nullptr, next);
}

void Engine::come_back(Thread* self) {
  if (self->standing == Standing::Alive) return;
  const Inside inside(self);
  Thread* head = __atomic_load_n(&arrived_, __ATOMIC_RELAXED);
  do {
    self->next_arrived = head;
  } while (!__atomic_compare_exchange_n(&arrived_, &head, self, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  __atomic_fetch_add(&arrivals_, 1, __ATOMIC_ACQ_REL);
  runtime::futex_wake(&arrivals_, 1);
  park(self);
  self->wait = Wait{};
}

void Engine::pass_on(Thread* self, bool sleeps) {
  if (self == nullptr || running != self || self->inside > 0 || self->standing != Standing::Alive) return;
  const Inside inside(self);
  run_file.set_uncontrolled(format::kUncontrolledBlockedOutside);
  self->operation = {EventKind::External, 0, 0, 0, 0};
  ++points;
  if (!sleeps) {
    stop(self, true);
    return;
  }
  self->standing = Standing::Outside;
  self->returned = false;
  ++outside_;
  admit();
  if (gather(nullptr) == 0) {
    self->standing = Standing::Alive;
    --outside_;
    clock_ += 10'000'000;  // the watchdog's patience: time limits of the others go on
    return;
  }
  hand_over(nullptr, pick(nullptr, false));
}

bool Engine::enter(Thread*& self) {
  if (self == nullptr) {
    void* memory = runtime::allocate(sizeof(Thread));
    if (memory == nullptr) return false;
    self = new (memory) Thread();
    self->index = format::kRunNone;
    self->standing = Standing::Outside;
    self->tid = static_cast<int32_t>(runtime::raw_syscall(SYS_gettid));
    self->operation = {EventKind::Begin, 0, 0, 0, 0};
    current_thread = self;
    run_file.set_uncontrolled(format::kUncontrolledForeignThread);
    if (on_foreign != nullptr) {
      const Inside inside(self);
      on_foreign(self);
    }
  }
  if (self->inside > 0 || self->standing == Standing::Ended || self->standing == Standing::Created)
    return false;
  if (self->standing == Standing::Outside) come_back(self);
  return running == self;
}

}  // namespace simrt::rt::control
