// The proof of a race: two threads that stood before conflicting accesses at the same time.
#pragma once

#include "control/thread.h"

namespace simrt::rt::control {

/// Writes a RunRace with flag Witnessed; `first` is the thread that goes first.
void write_witness(const Thread& first, const Thread& second);

}  // namespace simrt::rt::control
