// When the order of two steps of different threads can matter.
#pragma once

#include "model/execution.h"

namespace simrt::schedule {

/// Whether a step of this kind can be dependent on one of another thread.
bool dependent_at_all(EventKind kind);

/// Swapping the two may lead to another state, or one may enable or disable the other.
bool dependent(const ExecutionEvent& a, const ExecutionEvent& b);

/// For dependent steps, `first` having happened before: whether there may be a state in which both could go
/// on. A release that lets an acquisition go on, a creation, an end or a notification is no such pair.
bool may_be_coenabled(EventKind first, EventKind second);

/// Whether `second` may have had to wait for `first`, although may_be_coenabled(): the kinds do not tell.
/// Then the two may not be a race, and what `second` could be reversed with lies before `first`.
bool may_have_enabled(EventKind first, EventKind second);

}  // namespace simrt::schedule
