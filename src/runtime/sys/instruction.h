// How long an instruction is: enough of x86-64's encoding to walk through compiled code.
#pragma once

#include <stdint.h>

namespace simrt::runtime {

/// Bytes of the instruction at `code`; 0 when it is none that compilers emit, or reaches behind `end`.
uint32_t instruction_length(const uint8_t* code, const uint8_t* end);

}  // namespace simrt::runtime
