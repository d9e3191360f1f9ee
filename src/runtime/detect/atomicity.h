// Accesses of one thread that belong together although it let go of the lock between them, and another
// thread's that could come between with an outcome that no serial order has (Lu, Tucek, Qin, Zhou: AVIO,
// ASPLOS 2006; patterns 4 to 8 of MAP coverage: R-W-R, W-W-R, W-R-W, R-W-W, W-W-W on one variable).
//
// What belongs together is a guess, and so is the finding: two accesses of one variable in different critical
// sections of one function, or of functions that it calls, the second one further down in the code (turns of
// a loop do not belong together). All three under locks: what is not is a race. Atomics are left out: a cell
// does not say whether a store was conditional, and a load before a compare-exchange is how it is done.
#pragma once

#include <stdint.h>

#include "detect/thread.h"

namespace simrt::rt::detect {

/// The thread's latest access of the same bytes before the critical section that it is in now.
struct Earlier {
  uint64_t cell = 0;

  /// `own`: a cell of the thread's that is there; `now`: that of the access.
  void offer(const Thread& thread, uint64_t own, uint64_t now) {
    if ((own & kAtomic) != 0 || (own & now & kBytes) == 0 || segment_of(own) == thread.segment ||
        segment_of(own) <= segment_of(cell))
      return;
    cell = own;
  }
};

bool make_atomicity();
/// `thread`, under a lock, makes an access of `word`. Before it is entered.
void note_locked(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site,
                 const Earlier& earlier);
void atomicity_fork_child();

}  // namespace simrt::rt::detect
