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

uint32_t awaited(const Thread& thread) {
  const Wait& wait = thread.wait;
  if (wait.target != nullptr) return wait.target->index;
  const Object* lock = wait.second != nullptr && thread.notified ? wait.second : wait.object;
  return lock != nullptr && lock->owner != nullptr ? lock->owner->index : format::kRunNone;
}

void write_wait(const Thread& thread, WaitState state) {
  const uint32_t stack = write_stack(thread);
  run_file.append<format::RunWait>(
      thread.held.size() * sizeof(format::HeldLock), [&](format::RunWait& record) {
        record.thread = thread.index;
        record.state = state;
        record.kind = thread.operation.kind;
        record.stack = stack;
        record.object = thread.operation.object;
        record.pc = thread.operation.pc;
        record.awaited = awaited(thread);
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
    write_wait(*live_[i], state_of(*live_[i], live_[i]->wait.poll_count == 0 && can_go_on(*live_[i])));
  }
  runtime::store_release(run_file.header().state, state);
  for (;;) runtime::raw_syscall(SYS_exit_group, format::kRunExitStatus);
}

}  // namespace simrt::rt::control
