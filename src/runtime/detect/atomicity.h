// Accesses of one thread that belong together and that another thread's could come between.
#pragma once

#include <stdint.h>

#include "detect/thread.h"

namespace simrt::rt::detect {

/// `thread` makes an access to memory that others have accessed, in conflict with it.
void note_shared(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);

}  // namespace simrt::rt::detect
