// The life of the process under a plan.
#pragma once

#include <sched.h>

#include "control/thread.h"

namespace simrt::rt {

/// The calling thread becomes thread 0; its end will be noticed.
control::Thread* adopt_first_thread();
void write_first_thread(const control::Thread& self);

/// Takes the plan up, unless that has been done: mode, engine, detector. Before main, or before the first
/// thread is created, whichever comes first: so that an execution of the fork server and one from the start
/// have the same scheduling points. On the first thread.
void begin_execution();
/// The process is about to end by its own will.
void end_of_process(int status);

/// Whether threads were created already.
bool has_other_threads();

/// Whether the plan pinned the process to one processor, and which ones it could use else.
bool pinned();
cpu_set_t& processors();

/// Stops here and serves (plan.h); returns in each child and never in the server. False when there are
/// threads.
bool serve_forks();

}  // namespace simrt::rt
