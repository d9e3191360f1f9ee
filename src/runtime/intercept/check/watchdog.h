// What the host's watchdog can do to an execution that passes no points.
#pragma once

namespace simrt::rt {

/// Prepares for the host's signal (kRunWatchdogSignal) to the thread with the token.
void watch_for_host();

}  // namespace simrt::rt
