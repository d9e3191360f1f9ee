// What the program reads that the engine does not control (SIMRT_INPUTS in run.h). Nothing is changed by it:
// the first of each kind is noted, so that the host can name what may have decided where two executions under
// one schedule differ.
#pragma once

#include <stdint.h>

#include "simrt/format/run.h"

namespace simrt::rt {

using format::Input;

/// `name`: function, instruction or path; its beginning is kept. `pc`: return address of the call. A load and
/// a test when that kind was noted. Safe in signal handlers and before the runtime's constructor ran.
void note_input(Input kind, const char* name, uintptr_t pc);

/// Whether the first of this kind is still to come: only then it is worth a look whether something is of it.
bool is_wanted(Input kind);

/// A descriptor was read from: somebody else may have written what came. Asks the kernel now and then. Needs
/// the token.
void note_read(int fd, uintptr_t pc);

/// Addresses that the kernel chooses at random.
void note_random_addresses();

/// What was noted so far belongs to all executions of the fork server, and does not stand for what this one
/// reads itself; in its child, before anything else.
void keep_inputs_before_fork();

}  // namespace simrt::rt
