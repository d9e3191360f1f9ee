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
bool releases(EventKind kind) { return kind == EventKind::Unlock || kind == EventKind::UnlockShared; }
bool tries(const ExecutionEvent& step) { return step.tried || step.kind == EventKind::TryFailed; }
/// A try that failed says of its object only where it is: a semaphore, if others count there; a thread, if
/// one with this number ends. A semaphore's value is read as memory.
bool looks_across(const ExecutionEvent& a, const ExecutionEvent& b) {
  if (a.kind == EventKind::TryFailed || a.kind == EventKind::AtomicLoad)
    if (family_of(b.kind) == Family::Count) return true;
  return b.kind == EventKind::End && tries(a);
}
bool writes(EventKind kind) { return writes_memory(kind) || kind == EventKind::Free; }

}  // namespace

bool dependent_at_all(EventKind kind) { return family_of(kind) != Family::None; }

bool dependent(const ExecutionEvent& a, const ExecutionEvent& b) {
  const Family family = family_of(a.kind);
  if (looks_across(a, b) || looks_across(b, a)) return a.object == b.object;
  if (family == Family::None || family != family_of(b.kind)) return false;
  if (family == Family::Memory)
    return (writes(a.kind) || writes(b.kind)) && a.object < b.object + std::max(b.size, 1u) &&
           b.object < a.object + std::max(a.size, 1u);
  if (a.object != b.object) return false;
  return family != Family::Lock || !((shared(a.kind) && shared(b.kind)) ||
                                     (a.kind == EventKind::TryFailed && b.kind == EventKind::TryFailed));
}

bool may_be_coenabled(const ExecutionEvent& first, const ExecutionEvent& second) {
  switch (family_of(first.kind)) {
    case Family::Lock:
      if (releases(first.kind)) return tries(second);
      // Where a try fails nobody else could get it, either, but as one more reader.
      if (first.kind == EventKind::TryFailed)
        return tries(second) || releases(second.kind) || second.kind == EventKind::LockShared ||
               second.kind == EventKind::SemaphorePost || second.kind == EventKind::End;
      return !releases(second.kind);
    case Family::Condition:
      return first.kind != EventKind::Woken && second.kind != EventKind::Woken;
    case Family::Once:
      return first.kind == EventKind::OnceBegin;
    case Family::None:
      return first.kind == EventKind::End && tries(second);
    default:
      return true;
  }
}

bool surely_coenabled(const ExecutionEvent& first, const ExecutionEvent& second) {
  if (!may_be_coenabled(first, second)) return false;
  if (tries(second)) return true;
  if (second.kind == EventKind::SemaphoreWait)
    return first.kind != EventKind::SemaphorePost && first.kind != EventKind::AtomicLoad;
  return first.kind != EventKind::TryFailed || second.kind != EventKind::LockShared;
}

}  // namespace simrt::schedule
