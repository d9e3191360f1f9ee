// How large a history is and what takes the space.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "history/database.h"

namespace simrt::history {

struct Stats {
  std::uint64_t file_bytes = 0;  ///< main file, as SQLite counts its pages
  std::uint64_t free_bytes = 0;  ///< of these, unused; prune gives them back
  std::uint64_t environments = 0, revisions = 0, units = 0, functions = 0, function_versions = 0,
                variables = 0;
  std::uint64_t blocks = 0;  ///< block numbers given so far
  std::uint64_t tests = 0, runs = 0, coverages = 0, selections = 0, mappings = 0;
  std::uint64_t facts_bytes = 0, points_bytes = 0, coverage_bytes = 0, mapping_bytes = 0;
  double bytes_per_run = 0;    ///< coverage bytes a run with coverage
  double bytes_per_test = 0;   ///< coverage bytes a test
  double bytes_per_block = 0;  ///< facts and points bytes a block number
};

Result<Stats> stats(Database& database);

}  // namespace simrt::history
