// Sets of held locks as small numbers, each set made once (Savage et al.: Eraser, TOCS 1997, section 4).
#pragma once

#include <stdint.h>

#include "detect/context.h"

namespace simrt::rt::detect {

/// A lock that is held: who it is (LockId: one life of one lock object), how, and where it was acquired.
using LockId = uint32_t;  // 0 = none
struct HeldKey {
  LockId lock;
  bool shared;
  Site site;
  Context context;
  bool operator==(const HeldKey&) const = default;
};

using LockSet = uint32_t;
inline constexpr LockSet kNoLocks = 0;
/// Too many sets, or an access too long ago: nobody knows. Counts as if it had every lock.
inline constexpr LockSet kUnknownLocks = UINT32_MAX;
inline constexpr uint32_t kMostHeld = 64;

bool make_locksets();
/// `keys` ascending by lock; count <= kMostHeld.
LockSet intern_lockset(const HeldKey* keys, uint32_t count);
const HeldKey* lockset_keys(LockSet set, uint32_t& count);

/// Calls `visit(lock)` for every lock that keeps two holders of these sets apart: in both, and not shared in
/// both.
template <class Visit>
void common_locks(LockSet a, LockSet b, Visit visit) {
  if (a == kNoLocks || b == kNoLocks || a == kUnknownLocks || b == kUnknownLocks) return;
  uint32_t a_count = 0, b_count = 0;
  const HeldKey* x = lockset_keys(a, a_count);
  const HeldKey* y = lockset_keys(b, b_count);
  for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
    if (x[i].lock == y[j].lock) {
      if (!x[i].shared || !y[j].shared) visit(x[i].lock);
      ++i, ++j;
    } else if (x[i].lock < y[j].lock) {
      ++i;
    } else {
      ++j;
    }
  }
}

inline bool keep_apart(LockSet a, LockSet b) {
  if (a == kNoLocks || b == kNoLocks) return false;
  if (a == kUnknownLocks || b == kUnknownLocks) return true;
  bool found = false;
  common_locks(a, b, [&](LockId) { found = true; });
  return found;
}

/// Whether all locks of `small` are in `large`, at least as strongly.
bool included(LockSet small, LockSet large);

void locksets_fork_child();

}  // namespace simrt::rt::detect
