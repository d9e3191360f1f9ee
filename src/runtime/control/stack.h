// Call stacks of threads for the run file.
#pragma once

#include <stdint.h>

#include "control/thread.h"

namespace simrt::rt::control {

/// Writes the thread's call stack, its next operation first; RunStack::id, or kRunNone when nothing is known.
uint32_t write_stack(const Thread& thread);

}  // namespace simrt::rt::control
