// When the order of two steps of different threads can matter. A try (of a lock, a semaphore, a join) is a
// read-modify-write of its object that never waits: it fails where somebody else came before it, so that it
// is dependent on releases as well, and can come at any time.
#pragma once

#include "model/execution.h"

namespace simrt::schedule {

/// Whether a step of this kind can be dependent on one of another thread (an end, only on a try to join).
bool dependent_at_all(EventKind kind);

/// Swapping the two may lead to another state, or one may enable or disable the other.
bool dependent(const ExecutionEvent& a, const ExecutionEvent& b);

/// For dependent steps, `first` having happened before: whether there may be a state in which both could go
/// on. A release that lets an acquisition go on, a creation, an end or a notification is no such pair; a
/// release and a try are.
bool may_be_coenabled(const ExecutionEvent& first, const ExecutionEvent& second);

/// The same, and the kinds leave no doubt. A semaphore may have been empty before a post, or where its
/// count was read, a lock held by a writer where a try failed: then the two are no race, and what `second`
/// could come before lies earlier.
bool surely_coenabled(const ExecutionEvent& first, const ExecutionEvent& second);

}  // namespace simrt::schedule
