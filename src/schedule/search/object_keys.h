// Keys under which steps on the same object meet again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/execution.h"

namespace simrt::schedule {

/// Visits the 8-byte words that the step touches, or its object where that is no memory: dependent steps
/// share a key.
template <class Visit>
void each_key(const ExecutionEvent& step, Visit visit) {
  const bool counts = step.kind == EventKind::SemaphorePost || step.kind == EventKind::SemaphoreWait;
  if (counts) visit(step.object >> 3 << 1);  // where the count is read
  if (!is_memory(step.kind) && step.kind != EventKind::Free) return visit(step.object << 1 | 1);
  const std::uint64_t end = step.object + std::max(step.size, 1u);
  for (std::uint64_t word = step.object >> 3; word <= (end - 1) >> 3; ++word) visit(word << 1);
}

}  // namespace simrt::schedule
