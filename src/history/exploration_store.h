// Interleaving coverage of `simrt explore`: pattern instances, predecessor sets and method pairs of each
// test, by sites that stay the same where the code does; and the explorations themselves, for the trend.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/execution.h"

namespace simrt::history {

struct ExplorationRecord {
  std::string test, strategy, ended;
  std::uint64_t executable = 0;  ///< 0 = not known
  std::uint64_t executions = 0, failed = 0, first_failure = 0;
  bool settled = false;  ///< saturated or exhausted without a failure: there is nothing more to find this way
  std::string settled_by;  ///< identity of the strategies that there were; empty = not known
  bool complete = false;   ///< everything within the strategy's bound was covered
  std::uint64_t covered = 0, feasible = 0, impacted_covered = 0, impacted_feasible = 0;
  double total = 0;
  std::uint64_t method_pairs = 0, predecessor_pairs = 0;
  std::string head;             ///< read only: revision of its run
  std::int64_t started_at = 0;  ///< read only: seconds since 1970
};

struct InterleavingSite {
  SiteId site;
  std::string function, file;
  std::uint32_t line = 0, column = 0;
};

/// An instance of a memory-access pattern; unused sites are 0.
struct StoredInstance {
  std::uint8_t pattern = 0;
  std::array<SiteId, 4> sites{};
  bool covered = false;
};

/// `before` was seen immediately before `after`.
struct StoredOrder {
  SiteId after;
  std::uint64_t after_context = 0;
  SiteId before;
  std::uint64_t before_context = 0;
};

struct StoredMethodPair {
  std::string first, second;
  std::uint64_t executions = 0;
};

/// All that is known of a test's interleavings.
struct Interleavings {
  std::vector<InterleavingSite> sites;
  std::vector<StoredInstance> instances;
  std::vector<StoredOrder> orders;
  std::vector<StoredMethodPair> method_pairs;
};

/// Adds the exploration and replaces what was known of the test's interleavings by what is known now. Every
/// site of an instance or order must be among the sites (given now or before).
Status put_exploration(Database& database, CheckRunId run, const ExplorationRecord& record,
                       const Interleavings& known);
/// Nothing of an unknown test.
Result<Interleavings> interleavings_of(Database& database, const std::string& test);
/// Oldest first; of all tests when `test` is empty.
Result<std::vector<ExplorationRecord>> explorations_of(Database& database, const std::string& test);
/// The newest one of the test.
Result<std::optional<ExplorationRecord>> last_exploration(Database& database, const std::string& test);

}  // namespace simrt::history
