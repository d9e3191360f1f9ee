// Shared-variable accesses (SV) and impacted shared-variable pairs (ISVP), SimRT section 3.2.
#pragma once

#include <cstdint>
#include <optional>
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

/// What SharedAccess::sites say.
enum class SiteRole : std::uint8_t {
  None,
  RunsFrom,      ///< the threads that cover one of the sites make the access
  StartedBehind  ///< a thread that only p' starts makes it, for whoever covers one of the sites
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
  BlockId block;  ///< b, a block of p; {0, 0} = the `sites`, or, without those, unknown (counts as covered by
                  ///< every test)
  /// Several blocks of p in place of one: code that p does not have runs from all its callers' blocks.
  SiteRole site_role = SiteRole::None;
  std::uint32_t sites = 0;  ///< index into Impact::site_sets, unless the role is None
  /// Not 0: stands for so many accesses of its alias class, which are too many to pair one by one. Its sites
  /// are the blocks of them all, so that it is covered by whoever covers any of them.
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
  /// Impacted ones and their partners, ordered by file, line, column, mode; behind them those that stand for
  /// many.
  std::vector<SharedAccess> accesses;
  std::vector<std::vector<BlockId>> site_sets;  ///< each ascending, without duplicates, not empty
  std::vector<AccessPair> pairs;                ///< ISVPs, ordered
  std::vector<Unknown> unknowns;
  /// Functions of p of which every execution that the change can affect enters one; nullopt: not known.
  std::optional<std::vector<FunctionId>> origins;
};

}  // namespace simrt
