// From a recorded execution, which single delays could change what its threads do to each other: one thread
// is stopped before a step, and another one, whose steps conflict with it, goes first. Delays at conflicting
// steps only, as in active testing (Sen, PLDI 2008) and TSVD (Li et al., SOSP 2019); one that falls between
// two conflicting steps of its thread is a preemption where the thread's work is half done.
#pragma once

#include <cstdint>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

struct Delay {
  ThreadIndex thread = kNoThread;  ///< is stopped ...
  std::uint64_t points = 0;        ///< ... behind so many of its own scheduling points, before this step:
  SiteId site;
  EventKind kind = EventKind::Read;
  ThreadIndex other = kNoThread;  ///< goes on instead
  std::uint64_t until = 0;        ///< behind so many of its own points it has made a step that conflicts
  std::uint32_t occurrence = 0;   ///< 0 = the first time that the thread makes the step, ...
  bool splits = false;            ///< the thread has made another step before that conflicts with the other's
  bool alike = false;             ///< the two threads do the same
  bool again = false;             ///< the same with another thread to go first is more promising
  /// Further ones like `until`, behind which the other thread has still to make a step that conflicts: there
  /// the stopped thread falls in between two of the other one's. The latest first, then the earliest ...
  std::vector<std::uint64_t> between;
  /// Lower ones are more promising.
  unsigned tier() const {
    return (occurrence > 0 ? 8u : 0u) + (splits ? 0u : 4u) + (again ? 2u : 0u) + (alike ? 1u : 0u);
  }
};

/// Most promising first; within a tier the earliest, the latest, the next but earliest ... Threads that do
/// the same are represented by a few. In the execution every access must have been a scheduling point.
std::vector<Delay> delays_of(const Execution& execution);

}  // namespace simrt::schedule
