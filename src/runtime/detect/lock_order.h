// Potential deadlocks: cycles in the order in which threads take locks (Havelund, SPIN 2000; Bensalem,
// Havelund, HVC 2005: gate locks and orders between threads taken into account).
#pragma once

#include <stdint.h>

#include "detect/thread.h"

namespace simrt::rt::detect {

bool make_lock_order();
/// `thread` is about to wait for `wanted` while it holds thread.held.
void note_request(Thread& thread, const HeldKey& wanted);
void lock_order_fork_child();

}  // namespace simrt::rt::detect
