// Who could make a descriptor ready that threads wait for.
#pragma once

#include <stdint.h>

namespace simrt::rt::control {

enum class Reach : uint8_t {
  Within,    // only threads of the program
  Arriving,  // only they, but what one of them did is still on its way through the kernel
  Outside    // others, too: another process, the user, a timer of the kernel
};

}  // namespace simrt::rt::control
