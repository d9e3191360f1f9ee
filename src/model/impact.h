// Shared-variable accesses (SV) and impacted shared-variable pairs (ISVP), SimRT section 3.2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/facts.h"
#include "model/ids.h"

namespace simrt {

/// Which impact rule made an access impacted (SimRT, five rules); Unknown = the analysis could not tell.
enum class ImpactRule : std::uint8_t {
  NotImpacted,
  AccessChanged,  ///< 1: the change adds or alters the access
  CallChanged,    ///< 2: a call that was added or altered reaches the access
  SyncChanged,    ///< 3: the locks or the ordering that protect the access differ
  SafetyDropped,  ///< 4: atomic, thread_local, const, guarded struct taken away
  ForwardSlice,   ///< 5: data or control from the change reaches the access
  Unknown
};

/// SV = (c.m, n, d, l, a, b, i).
struct SharedAccess {
  FunctionId function;            ///< where the access stands in p'
  FunctionId mapped_function;     ///< c.m: `function`, or its nearest caller that exists in p; 0 = unknown
  VariableId variable;            ///< n
  std::uint64_t alias_class = 0;  ///< d
  std::string file;               ///< of the access in p'
  SourcePoint at;                 ///< l
  AccessMode mode = AccessMode::Read;  ///< a
  BlockId block;  ///< b, a block of p; {0, 0} = unknown (counts as covered by every test)
  /// Narrows an unknown block: the access runs on a thread that is started behind this block of p, so only
  /// tests that cover it (with any thread) can run it. {0, 0} = no such limit. Ignoring it is safe.
  BlockId reached_from;
  /// Not 0: stands for so many accesses of its alias class, which are too many to pair one by one. Counts as
  /// made by every thread of a test; `block` is that of one of them and not asked about. Safe: those who
  /// cover one of the accesses are among them.
  std::uint32_t stands_for = 0;
  bool impacted = false;  ///< i
  ImpactRule rule = ImpactRule::NotImpacted;
  std::string cause;       ///< one line: "lock mu_ no longer held (was: exclusive)"
  std::string cause_file;  ///< where the change that impacted it stands
  SourcePoint cause_at;
  std::uint8_t tags = 0;  ///< AccessTag
  MemoryOrder order = MemoryOrder::NotAtomic;
  std::vector<std::string> locks;  ///< must-lockset in p', display names
};

/// Indices into Impact::accesses; first <= second. A write pairs with itself.
struct AccessPair {
  std::uint32_t first = 0, second = 0;
  auto operator<=>(const AccessPair&) const = default;
};

/// Something that the analysis does not know; it forces a larger selection.
struct Unknown {
  std::string what;  ///< one line for the user
  std::string file;
  FunctionId function;  ///< 0 = the whole file
};

struct Impact {
  std::vector<SharedAccess>
      accesses;                   ///< impacted ones and their partners; ordered by file, line, column, mode
  std::vector<AccessPair> pairs;  ///< ISVPs, ordered
  std::vector<Unknown> unknowns;
};

}  // namespace simrt
