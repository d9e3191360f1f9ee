// The common questions about tests: who covers a place, what a test covers, how its runs went.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/coverage.h"
#include "model/ids.h"
#include "model/test.h"

namespace simrt::history {

/// Blocks that stand at a place of a revision.
struct PlaceBlocks {
  BlockSet blocks;
  std::vector<std::string> functions;  ///< display names, sorted
  bool exact =
      false;  ///< line queries: false when no block has code on the line and whole functions were taken
};

/// Blocks with code on `line` of `file`; all blocks of the functions around it when the line has none of its
/// own. Empty when no recorded function spans the line. Lines are those of the recorded revision.
Result<PlaceBlocks> blocks_at_line(Database& database, RevisionId revision, const std::string& file,
                                   std::uint32_t line);

/// All blocks of the functions called `name`: the full display name, the name without parameter types, or its
/// last components ("DBImpl::Get", "Get").
Result<PlaceBlocks> blocks_of_function(Database& database, RevisionId revision, const std::string& name);

struct CoveringTest {
  std::string test;
  std::uint32_t threads =
      0;  ///< threads seen at the place; 2 stands for "two or more" where they were not told apart
  std::uint32_t blocks = 0;  ///< blocks of the place that it covered
  Outcome outcome = Outcome::NotRun;
  double seconds = 0;
};

/// Tests whose latest run at `revision` covered any of `blocks` with at least `threads` threads, by name.
Result<std::vector<CoveringTest>> tests_covering(Database& database, RevisionId revision,
                                                 const BlockSet& blocks, std::uint32_t threads = 1);

struct FunctionCoverage {
  std::string file;
  std::string function;
  std::uint32_t covered = 0;                                   ///< blocks, by any thread
  std::uint32_t total = 0;                                     ///< blocks the body has
  std::vector<std::pair<std::string, std::uint32_t>> threads;  ///< role (or "several") and blocks, by role
};

struct CoverageReport {
  std::uint32_t threads = 0;  ///< threads that ran
  std::uint64_t blocks = 0;
  std::vector<FunctionCoverage> functions;  ///< by file and name
  bool has_coverage = false;
};

/// What the latest run of `test` at `revision` covered. Error: Usage when the test was not recorded there.
Result<CoverageReport> coverage_of_test(Database& database, RevisionId revision, TestId test);

struct RunRow {
  RunId run;
  std::string test, sha, environment;
  std::int64_t finished_at = 0;  ///< milliseconds since 1970
  Outcome outcome = Outcome::NotRun;
  int exit_code = 0;
  double seconds = 0;
  bool reused = false;
  std::uint32_t threads = 0, blocks = 0;  ///< 0 without coverage
  std::vector<std::string> notes;
};

/// Runs, newest first; of one test unless `test` is empty.
Result<std::vector<RunRow>> runs(Database& database, const std::string& test, std::uint32_t limit);

struct TestTiming {
  std::string test;
  std::uint32_t runs = 0;  ///< executions; reused results do not count
  double mean_seconds = 0, max_seconds = 0, last_seconds = 0;
};

/// Slowest tests first, by mean duration over all executions.
Result<std::vector<TestTiming>> slow_tests(Database& database, std::uint32_t limit);

struct FlakyTest {
  std::string test;
  std::uint64_t executable = 0;
  std::string environment;
  std::uint32_t passed = 0,
                failed = 0;  ///< executions of this executable; crashed and timed out count as failed
  std::int64_t last_at = 0;  ///< milliseconds since 1970
};

/// Tests that passed and failed with one and the same executable, most mixed first.
Result<std::vector<FlakyTest>> flaky_tests(Database& database);

}  // namespace simrt::history
