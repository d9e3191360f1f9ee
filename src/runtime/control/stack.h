// Call stacks of threads for the run file.
#pragma once

#include <stdint.h>

#include "control/thread.h"

namespace simrt::rt::control {

/// Writes the thread's call stack, its next operation first; RunStack::id, or kRunNone when nothing is known.
uint32_t write_stack(const Thread& thread);

/// The calls that the thread with this index is in, each stack once an execution; RunStack::id, or kRunNone
/// when nothing is known (no detector is on).
/// `caller` as in Operation.
uint32_t write_callers(uint32_t thread, uintptr_t caller);

}  // namespace simrt::rt::control
