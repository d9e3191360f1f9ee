// The work of one coverage hit. Shared by the linked hook and by the copy that the compiler wrapper inlines
// (hooks/inline.cc).
//
// A guard's cell is the byte at (address of the guard + the thread's map pointer). Two consequences: no guard
// value is ever loaded, so nothing has to number the guards, and the map pointer's initial value 0 is valid:
// a hit before the runtime started, or in a thread that it does not know, lands in the guard itself. So the
// fast path has no branch at all.
#pragma once

#include <stdint.h>

/// Distance from a guard to its cell in the calling thread's map; 0 = the guard itself.
extern "C" {
extern constinit thread_local intptr_t simrt_guard_map
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
}

namespace simrt::runtime {

enum class Cell : uint8_t { Hit = 1 };  // a type of its own: the compiler sees that it aliases no user data

__attribute__((always_inline)) inline void mark(const uint32_t* guard) {
  *reinterpret_cast<Cell*>(reinterpret_cast<intptr_t>(guard) + simrt_guard_map) = Cell::Hit;
}

}  // namespace simrt::runtime
