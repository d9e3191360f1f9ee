// The five impact rules (SimRT, section 3.2; C++ readings in the headers of their files). Each marks accesses
// of p'.
#pragma once

#include <cstdint>
#include <vector>

#include "impact/branch_sites.h"
#include "impact/change_context.h"
#include "impact/marks.h"

namespace simrt::impact {

/// Rule 4: what made the variable safe is gone, or its type is another one: every use.
void rule_safety(const ChangeContext& context, Marks& marks);
/// Rule 1: accesses that are new, altered, or lost a companion access.
void rule_access(const ChangeContext& context, Marks& marks);
/// Rule 2: everything that new or altered calls reach. Returns those call events of p', ascending, for the
/// mapping.
std::vector<std::uint32_t> rule_call(const ChangeContext& context, Marks& marks);
/// Rule 3, locks: locksets that differ at matched places, and regions of changed lock operations.
void rule_sync(const ChangeContext& context, Marks& marks);
/// Rule 3, everything else that orders: atomics, fences, condition variables, joins, once-flags, ...
void rule_order(const ChangeContext& context, Marks& marks);
/// Rules 1 and 2 for code that was moved within its function and that no other rule explains: it runs in
/// another order.
void rule_moved(const ChangeContext& context, Marks& marks);
/// Rule 5: the forward slice of changes that touch no shared variable themselves. Runs last. Returns the call
/// events of p' whose callee it decides, ascending; adds what affected branches decide about to `branches`.
std::vector<std::uint32_t> rule_slice(const ChangeContext& context, Marks& marks, BranchSites& branches);

}  // namespace simrt::impact
