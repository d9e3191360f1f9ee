// Forgetting old revisions, and everything that only they referred to.
#pragma once

#include <cstdint>

#include "history/database.h"

namespace simrt::history {

struct PruneOptions {
  std::uint32_t keep_revisions = 0;  ///< newest ones to keep in each environment; 0 = no limit
  std::int64_t older_than = 0;  ///< seconds; drop revisions recorded before now - older_than; 0 = no limit
  std::int64_t now = 0;         ///< seconds since 1970
  bool vacuum = true;           ///< give the space back to the file system (needs as much again for a moment)
};

struct PruneReport {
  std::uint32_t revisions = 0, units = 0, function_versions = 0, runs = 0, coverages = 0, selections = 0,
                mappings = 0, check_runs = 0, findings = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;
};

/// Drops the revisions that one of the limits names, with their runs and selections. The newest revision and
/// the newest complete one of each environment always stay. Checks are dropped by age alone (older_than); the
/// newest one stays, and so does what a confirmed finding needs to be known again: its last sighting and its
/// newest witness. Block numbers are never given away again. One transaction.
Result<PruneReport> prune(Database& database, const PruneOptions& options);

}  // namespace simrt::history
