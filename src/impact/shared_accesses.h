// The shared-variable accesses (SV) of p' that matter for a change: the impacted ones, and every access that
// may touch the same memory. Puts together what the rules, the alias classes and the block mapping found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impact/alias_classes.h"
#include "impact/block_mapping.h"
#include "impact/change_context.h"
#include "impact/lock_order.h"
#include "impact/marks.h"
#include "impact/site_sets.h"
#include "model/impact.h"

namespace simrt::impact {

/// An SV and what only the pairing needs to know of it.
struct Candidate {
  SharedAccess access;
  std::uint64_t type = 0;  ///< AliasClasses::type_of
  /// An access of a constructor to its own object that is not impacted, where the constructor hands `this` to
  /// nobody: no other thread knows the object yet. It pairs with nothing: whether the object is published
  /// safely shows in the accesses to what publishes it (and a weaker order there impacts the constructor's
  /// accesses, rule 3).
  bool before_publication = false;
};

/// Accesses of every alias class with an impacted member (all classes with ImpactOptions::keep_all_accesses);
/// ordered by file, line, column, mode, then block; without duplicates. One in code that p does not have, or
/// that the change newly makes run from several places, has the set of those places, which goes to `sites`.
/// Sites of locks that are taken in another order count as writes of the lock.
std::vector<Candidate> shared_accesses(const ChangeContext& context, const Marks& marks,
                                       const AliasClasses& aliases, const BlockMapping& mapping,
                                       const std::vector<LockOrderSite>& lock_order, SiteSets& sites);

/// Order of Impact::accesses.
bool access_before(const SharedAccess& a, const SharedAccess& b);

}  // namespace simrt::impact
