#include "control/event_log.h"

#include "control/stack.h"
#include "emit/run_file.h"

namespace simrt::rt::control {

void EventLog::write(uint32_t thread, const Operation& operation, uint64_t enabled, bool decision) {
  constexpr uint32_t kCapacity = 1022;
  if (!wanted_) return;
  const uint32_t callers = write_callers(thread, operation.caller);  // before the record that refers to it
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
  last_->thread = static_cast<uint16_t>(thread);
  last_->kind = static_cast<uint8_t>(operation.kind);
  last_->order = static_cast<uint8_t>(operation.order | (decision ? 0 : format::kEventWithoutDecision));
  __atomic_store_n(&chunk_->count, chunk_->count + 1, __ATOMIC_RELEASE);
  run_file.header().events = ++written_;
}

}  // namespace simrt::rt::control
