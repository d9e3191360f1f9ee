#include "control/stack.h"

#include "detect/context.h"
#include "detect/thread.h"
#include "emit/run_file.h"

namespace simrt::rt::control {

uint32_t write_stack(const Thread& thread) {
  if (thread.operation.pc == 0) return format::kRunNone;
  constexpr uint32_t kMost = 64;
  uintptr_t callers[kMost];
  uint32_t count = 0;
  if (const detect::Thread* known = detect::thread_with_index(thread.index); known != nullptr)
    count = detect::context_frames(known->context, callers, kMost);
  const uint32_t id = run_file.next_id(format::RunKind::Stack);
  const auto* written =
      run_file.append<format::RunStack>((count + 1) * sizeof(uint64_t), [&](format::RunStack& record) {
        record.id = id;
        record.frame_count = count + 1;
        auto* frames = items_of<uint64_t>(&record);
        frames[0] = thread.operation.pc;
        for (uint32_t i = 0; i < count; ++i) frames[i + 1] = callers[i];
      });
  return written != nullptr ? id : format::kRunNone;
}

}  // namespace simrt::rt::control
