#include "control/event_log.h"

#include "control/stack.h"
#include "emit/run_file.h"

namespace simrt::rt::control {

void EventLog::write_calls(const Thread& thread, uint64_t hash) {
  uint32_t slot = static_cast<uint32_t>(hash >> 40) % kKnown;
  for (; known_[slot] != 0; slot = (slot + 1) % kKnown)
    if (known_[slot] == hash) return;
  if (known_count_ == kKnown / 2) {
    for (auto& known : known_) known = 0;
    known_count_ = 0;
    slot = static_cast<uint32_t>(hash >> 40) % kKnown;
  }
  known_[slot] = hash;
  ++known_count_;
  uintptr_t callers[Calls::kWindow];
  const uint32_t count = thread.calls.innermost(callers);
  run_file.append<format::RunCalls>(count * sizeof(uint64_t), [&](format::RunCalls& record) {
    record.hash = hash;
    record.frame_count = count;
    for (uint32_t i = 0; i < count; ++i) items_of<uint64_t>(&record)[i] = callers[i];
  });
}

void EventLog::write(const Thread& thread, const Operation& operation, uint64_t enabled, bool decision) {
  constexpr uint32_t kCapacity = 1022;
  if (!wanted_) return;
  const uint32_t callers =
      write_callers(thread.index, operation.caller);  // before the record that refers to it
  if (operation.calls != 0) write_calls(thread, operation.calls);
  if (chunk_ == nullptr || chunk_->count == chunk_->capacity) {
    last_ = nullptr;
    chunk_ = run_file.append<format::RunEvents>(kCapacity * sizeof(format::RunEvent),
                                                [](auto& record) { record.capacity = kCapacity; });
    if (chunk_ == nullptr) return;
  }
  last_ = items_of<format::RunEvent>(chunk_) + chunk_->count;
  last_->object = operation.object;
  last_->pc = operation.pc;
  last_->enabled = enabled;
  last_->size = operation.size;
  last_->callers = callers;
  last_->calls = operation.calls;
  last_->value = 0;
  last_->thread = static_cast<uint16_t>(thread.index);
  last_->kind = static_cast<uint8_t>(operation.kind);
  last_->order = static_cast<uint8_t>(operation.order | (decision ? 0 : format::kEventWithoutDecision));
  __atomic_store_n(&chunk_->count, chunk_->count + 1, __ATOMIC_RELEASE);
  run_file.header().events = ++written_;
}

}  // namespace simrt::rt::control
