// Locks that the change takes in another order: acquisitions of p' that, together with others, may close a
// circle in which threads wait for one another (Goodlock: Havelund, Using runtime analysis to guide model
// checking of Java programs, SPIN 2000). No variable needs to be involved, so these sites stand for
// themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "impact/change_context.h"
#include "impact/marks.h"

namespace simrt::impact {

/// At `event` (of a lock operation, or a call that takes the lock) another lock is held.
struct LockOrderSite {
  std::uint32_t event = kNone;
  VariableId lock;              ///< taken there
  std::uint64_t circle = 0;     ///< the same for all sites that may wait for one another
  std::uint32_t cause = kNone;  ///< kNone: the order was the same in p
};

/// Every site of each circle that has a new one; ascending by event.
std::vector<LockOrderSite> lock_order_sites(const ChangeContext& context, Marks& marks);

}  // namespace simrt::impact
