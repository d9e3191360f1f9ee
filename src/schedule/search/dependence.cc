#include "schedule/search/dependence.h"

#include <algorithm>

namespace simrt::schedule {
namespace {

enum class Family { None, Memory, Lock, Condition, Count, Once, Outside };

Family family_of(EventKind kind) {
  switch (kind) {
    case EventKind::Read:
    case EventKind::Write:
    case EventKind::AtomicLoad:
    case EventKind::AtomicStore:
    case EventKind::AtomicUpdate:
    case EventKind::AtomicFailed:
    case EventKind::Free:  // a write of what is freed
      return Family::Memory;
    case EventKind::Lock:
    case EventKind::Unlock:
    case EventKind::LockShared:
    case EventKind::UnlockShared:
    case EventKind::TryFailed:
      return Family::Lock;
    case EventKind::Wait:
    case EventKind::Woken:
    case EventKind::TimedOut:
    case EventKind::Notify:
    case EventKind::NotifyAll:
      return Family::Condition;
    case EventKind::SemaphorePost:
    case EventKind::SemaphoreWait:
      return Family::Count;
    case EventKind::OnceBegin:
    case EventKind::OnceEnd:
      return Family::Once;
    case EventKind::External:
      return Family::Outside;
    default:
      return Family::None;  // Create, Begin, End and Join order threads, not one another
  }
}

bool shared(EventKind kind) { return kind == EventKind::LockShared || kind == EventKind::UnlockShared; }
bool acquires(EventKind kind) { return kind == EventKind::Lock || kind == EventKind::LockShared; }
bool releases(EventKind kind) { return kind == EventKind::Unlock || kind == EventKind::UnlockShared; }
/// A try that failed says of its object only where it is: a semaphore, if others count there.
bool tries_semaphore(EventKind a, EventKind b) {
  return a == EventKind::TryFailed && family_of(b) == Family::Count;
}
bool writes(EventKind kind) { return writes_memory(kind) || kind == EventKind::Free; }

}  // namespace

bool dependent_at_all(EventKind kind) { return family_of(kind) != Family::None; }

bool dependent(const ExecutionEvent& a, const ExecutionEvent& b) {
  const Family family = family_of(a.kind);
  if (tries_semaphore(a.kind, b.kind) || tries_semaphore(b.kind, a.kind)) return a.object == b.object;
  if (family == Family::None || family != family_of(b.kind)) return false;
  if (family == Family::Memory)
    return (writes(a.kind) || writes(b.kind)) && a.object < b.object + std::max(b.size, 1u) &&
           b.object < a.object + std::max(a.size, 1u);
  if (a.object != b.object) return false;
  return family != Family::Lock || !((shared(a.kind) && shared(b.kind)) ||
                                     (a.kind == EventKind::TryFailed && b.kind == EventKind::TryFailed));
}

bool may_be_coenabled(EventKind first, EventKind second) {
  switch (family_of(first)) {
    case Family::Lock:
      // Where a try fails nobody else could get it, either, but as one more reader.
      if (first == EventKind::TryFailed)
        return releases(second) || second == EventKind::LockShared || second == EventKind::SemaphorePost;
      if (releases(first)) return second == EventKind::TryFailed;
      return acquires(first) && !releases(second);
    case Family::Condition:
      return first != EventKind::Woken && second != EventKind::Woken;
    case Family::Once:
      return first == EventKind::OnceBegin;
    case Family::None:
      return false;
    default:
      return true;
  }
}

bool surely_coenabled(EventKind first, EventKind second) {
  return may_be_coenabled(first, second) &&
         !(first == EventKind::SemaphorePost && second == EventKind::SemaphoreWait) &&
         !(first == EventKind::TryFailed && second == EventKind::LockShared);
}

}  // namespace simrt::schedule
