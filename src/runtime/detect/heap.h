// Blocks of the heap: who allocated them, for reports.
#pragma once

#include <stdint.h>

#include "detect/finding.h"
#include "detect/thread.h"

namespace simrt::rt::detect {

bool make_heap();
void enter_block(const Thread& thread, uintptr_t address, uint64_t size, uintptr_t pc);
/// The block's allocation stays known until the address is allocated again: it explains a use after free.
void find_block(uintptr_t inside, Block& block);

}  // namespace simrt::rt::detect
