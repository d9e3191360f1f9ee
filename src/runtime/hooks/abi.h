// What the definitions of the compiler's entry points share.
#pragma once

#include <stdint.h>

#define SIMRT_HOOK [[gnu::visibility("default")]]
#define SIMRT_RETURN_ADDRESS reinterpret_cast<uintptr_t>(__builtin_return_address(0))
