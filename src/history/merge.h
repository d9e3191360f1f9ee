// Merging the history of another machine (a shard of a CI matrix, a colleague's recording) into this one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "history/database.h"

namespace simrt::history {

/// What was new to the target.
struct MergeReport {
  std::uint32_t revisions = 0, units = 0, function_versions = 0, tests = 0, runs = 0, coverages = 0,
                selections = 0, check_runs = 0, findings = 0, explorations = 0;
  bool operator==(const MergeReport&) const = default;
};

/// Adds everything that `source` holds and `target` does not, in one transaction; merging again adds nothing,
/// and the order of several merges does not matter for what is found afterwards. Rows meet by content hash;
/// block numbers are translated, since each database numbers for itself. A revision becomes complete when the
/// shards of one split are all present. Module mappings stay behind (they hold block numbers). `source` is
/// only read; an older schema is fine. Errors: as Database::open for the source; Usage when source and target
/// are one file.
Result<MergeReport> merge(Database& target, const std::filesystem::path& source);

}  // namespace simrt::history
