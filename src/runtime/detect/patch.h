// Hooks at sites that nobody watches, taken out of the code: their calls become NOPs.
//
// Finds the slots of the global offset table that hold hooks (JMPREL, RELA), the stubs that jump through them
// (`ff 25`, behind endbr64 or bnd), then the calls: `e8`/`e9 rel32` to a stub, `ff 15`/`ff 25` through a
// slot. Worked with ld.bfd (with and without CET), lld and gold, PIE or not, -z now, -fno-plt. Code that it
// does not find (-mcmodel=large, other processors) still asks Options::watch at each hook: slower, not
// wrong.
#pragma once

#include <stdint.h>

#include "detect/watch.h"

namespace simrt::rt::detect {

struct Patched {
  uint32_t modules = 0;
  uint32_t calls = 0;  // made NOPs
  uint32_t kept = 0;   // calls of hooks whose sites are wanted
};

/// Takes out all calls for plain accesses, in all modules not seen before, whose return address `watch` does
/// not have; with `calls`, also the notices of function entry and exit (then stacks of findings are one frame
/// deep). Atomics and memory functions stay. Only while the process has one thread: code is overwritten.
Patched patch_out(const Watch& watch, bool calls);

}  // namespace simrt::rt::detect
