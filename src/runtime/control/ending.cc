// The end of an execution that the engine itself ends.
#include "control/engine.h"
#include "control/stack.h"
#include "emit/run_file.h"

namespace simrt::rt::control {

using format::WaitState;

namespace {

WaitState state_of(const Thread& thread, bool ready) {
  if (thread.standing == Standing::Outside) return WaitState::Outside;
  if (ready) return WaitState::Ready;
  return thread.wait.deadline == Wait::kForever ? WaitState::Blocked : WaitState::TimedBlocked;
}

bool holds_lock(const Thread& thread, uintptr_t lock) {
  for (size_t i = 0; i < thread.held.size(); ++i)
    if (thread.held[i].lock == lock) return true;
  return false;
}

// Who could end the wait: the owner of the lock, a reader of it or the writer that comes first, whoever is in
// the initialiser. Of a notification anyone could; when the waiter holds a lock that another thread waits
// for, then not that one.
uint32_t awaited(const Thread& thread, Thread* const* live, uint32_t count) {
  const Wait& wait = thread.wait;
  if (wait.target != nullptr) return wait.target->index;
  const Object* lock = wait.second != nullptr && thread.notified ? wait.second : wait.object;
  if (lock != nullptr && lock->owner != nullptr) return lock->owner->index;
  const uintptr_t sought = lock != nullptr ? lock->address : reinterpret_cast<uintptr_t>(wait.word);
  uint32_t itself = format::kRunNone;
  for (uint32_t i = 0; i < count; ++i) {
    const Thread& other = *live[i];
    const Object* asked = other.wait.object;
    bool ends_it = false;
    switch (wait.until) {
      case Until::LockFree:
      case Until::OnceSettled:
        ends_it = holds_lock(other, sought);
        break;
      case Until::NoWriter:
        ends_it = &other != &thread && asked == lock && other.wait.until == Until::LockFree;
        break;
      case Until::Notified:
        ends_it = &other != &thread && asked != nullptr && holds_lock(thread, asked->address);
        break;
      default:
        break;
    }
    if (ends_it && &other != &thread) return other.index;
    if (ends_it) itself = other.index;
  }
  return itself;
}

void write_wait(const Thread& thread, WaitState state, uint32_t awaited) {
  const uint32_t stack = write_stack(thread);
  run_file.append<format::RunWait>(
      thread.held.size() * sizeof(format::HeldLock), [&](format::RunWait& record) {
        record.thread = thread.index;
        record.state = state;
        record.kind = thread.operation.kind;
        record.stack = stack;
        record.object = thread.operation.object;
        record.pc = thread.operation.pc;
        record.awaited = awaited;
        record.held_count = static_cast<uint32_t>(thread.held.size());
        auto* locks = items_of<format::HeldLock>(&record);
        for (size_t i = 0; i < thread.held.size(); ++i) {
          const Held& held = thread.held[i];
          locks[i] = {held.lock, held.pc, format::kRunNone, held.shared ? 1u : 0u};
        }
      });
}

}  // namespace

void Engine::end_run(format::RunState state) {
  publish();
  for (uint32_t i = 0; i < live_count_; ++i) {
    if (live_[i]->standing == Standing::Created) continue;
    write_wait(*live_[i], state_of(*live_[i], live_[i]->wait.poll_count == 0 && can_go_on(*live_[i])),
               awaited(*live_[i], live_, live_count_));
  }
  runtime::store_release(run_file.header().state, state);
  if ((plan.header.flags & format::kPlanTrapAtEnd) != 0) asm volatile("int3");
  for (;;) runtime::raw_syscall(SYS_exit_group, format::kRunExitStatus);
}

}  // namespace simrt::rt::control
