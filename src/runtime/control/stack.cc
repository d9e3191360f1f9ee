#include "control/stack.h"

#include "detect/context.h"
#include "detect/pool.h"
#include "detect/thread.h"
#include "emit/run_file.h"

namespace simrt::rt::control {

uint32_t write_stack(const Thread& thread) {
  if (thread.operation.pc == 0) return format::kRunNone;
  constexpr uint32_t kMost = 64;
  uintptr_t callers[kMost];
  uint32_t count = 0;
  const uint32_t first = thread.operation.caller != 0 ? 1 : 0;
  callers[0] = thread.operation.caller;
  if (const detect::Thread* known = detect::thread_with_index(thread.index); known != nullptr)
    count = detect::context_frames(known->context, callers + first, kMost - first);
  count += first;
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

namespace {

uint32_t* written = nullptr;  // by context: RunStack::id + 1; 0 = not written

}  // namespace

uint32_t write_callers(uint32_t thread, uintptr_t caller) {
  const detect::Thread* known = detect::thread_with_index(thread);
  if (known == nullptr) return format::kRunNone;
  if (written == nullptr) written = detect::reserve_array<uint32_t>(size_t{1} << detect::kContextBits);
  if (written == nullptr) return format::kRunNone;
  uint32_t& id = written[known->context];
  if (id != 0 && caller == 0) return id - 1;
  constexpr uint32_t kMost = 64;
  uintptr_t callers[kMost];
  const uint32_t first = caller != 0 ? 1 : 0;
  callers[0] = caller;
  const uint32_t count = first + detect::context_frames(known->context, callers + first, kMost - first);
  const uint32_t next = run_file.next_id(format::RunKind::Stack);
  const auto* record =
      run_file.append<format::RunStack>(count * sizeof(uint64_t), [&](format::RunStack& stack) {
        stack.id = next;
        stack.frame_count = count;
        auto* frames = items_of<uint64_t>(&stack);
        for (uint32_t i = 0; i < count; ++i) frames[i] = callers[i];
      });
  if (record == nullptr) return format::kRunNone;
  if (caller == 0) id = next + 1;
  return next;
}

}  // namespace simrt::rt::control
