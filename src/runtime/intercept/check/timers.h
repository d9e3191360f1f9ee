// Timers of the kernel.
#pragma once

namespace simrt::rt {

/// Whether one that the program armed (timer_settime) has still to run out.
bool timers_are_armed();

}  // namespace simrt::rt
