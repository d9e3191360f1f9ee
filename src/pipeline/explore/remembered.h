// What the history knows of a test's interleavings: read before an exploration, kept behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "history/exploration_store.h"
#include "pipeline/explore/explore_test.h"
#include "report/explore_view.h"

namespace simrt::pipeline {

struct Remembered {
  schedule::PatternCoverage covered;
  schedule::HapSets orders;
  /// An exploration of the very same program with the same strategy, of this version of it, left nothing to
  /// do.
  bool settled = false;
  std::string note;  ///< why what is known does not count, or since when nothing is left to do
};

/// Coverage counts when the program is the same, or when it was recorded at the base of the diff: then what
/// the diff impacts is dropped as soon as its sites are known (Knowledge). `executable` 0 = not known.
Result<Remembered> remember(history::Database& database, const std::string& test, const std::string& strategy,
                            std::uint64_t executable, const std::string& base);

/// What a report says of the exploration.
report::ExploredTest explored_line(const std::string& test, const TestExploreResult& result);

/// Errors: History.
Status keep_interleavings(history::Database& database, history::CheckRunId run,
                          const report::ExploredTest& line, const std::string& strategy,
                          std::uint64_t executable, const TestExploreResult& result);

}  // namespace simrt::pipeline
