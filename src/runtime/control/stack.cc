#include "control/stack.h"

#include "emit/run_file.h"

namespace simrt::rt::control {

uint32_t write_stack(const Thread& thread) {
  if (thread.operation.pc == 0) return format::kRunNone;
  const uint32_t id = run_file.next_id(format::RunKind::Stack);
  const auto* written = run_file.append<format::RunStack>(sizeof(uint64_t), [&](format::RunStack& record) {
    record.id = id;
    record.frame_count = 1;
    items_of<uint64_t>(&record)[0] = thread.operation.pc;
  });
  return written != nullptr ? id : format::kRunNone;
}

}  // namespace simrt::rt::control
