// What ties the recorder to the life of the process and of its threads.
#pragma once

namespace simrt::runtime {

/// Tells the recorder when exit() begins. Call it once the main program is being initialised; idempotent.
void watch_exit();
/// Prepares the notice of thread ends, at the first call; false when the process has no key left for it.
bool make_thread_end_key();
/// On a thread that the recorder knows: its end will be noticed, however it comes (return, pthread_exit,
/// cancel).
void watch_thread_end();

}  // namespace simrt::runtime
