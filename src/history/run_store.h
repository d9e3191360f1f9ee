// Runs of tests with their coverage. Each run is committed at once: whatever ends the recorder loses at most
// the tests that were running.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/test.h"

namespace simrt::history {

/// A test as it was last recorded at a revision.
struct RecordedRun {
  RunId run;
  TestCase test;                 ///< as defined when it ran
  TestRun last;                  ///< coverage filled when it was asked for
  std::int64_t finished_at = 0;  ///< milliseconds since 1970
  bool reused = false;           ///< taken over from an earlier run of the same executable
};

/// Notes which tests there are before any of them runs: those without a run at `revision` get one that says
/// NotRun, and that the first real one replaces (also one merged from elsewhere). Whoever selects from a
/// recording that was cut short, or from one shard of it, so learns of the tests it did not reach. One that
/// had left the suite (narrow_suite()) is back.
Status announce_tests(Database& database, RevisionId revision, const std::vector<TestCase>& tests);

/// Makes `tests` all there are at `revision`: others that a run or announcement is known of leave its suite.
/// Their runs stay (what they covered, how long they took, what reuse_run() takes over), and a later run or
/// announcement brings them back. Returns how many left now.
Result<std::size_t> narrow_suite(Database& database, RevisionId revision, const std::vector<TestCase>& tests);

enum class WithCoverage : bool { No, Yes };

/// Stores one run. Durations and outcomes of all runs are kept; equal coverage is stored once. `finished_at`
/// in milliseconds since 1970; of two runs of one test the later one is "the latest". One small transaction.
Result<RunId> put_run(Database& database, RevisionId revision, const TestCase& test, const TestRun& run,
                      std::int64_t finished_at);

/// The latest real run of this test, same definition, of the same executable in the same environment, at any
/// revision: what reuse_run() may take over. Null when there is none. `executable` 0 (unknown) never matches.
Result<std::optional<RecordedRun>> find_reusable_run(Database& database, const TestCase& test,
                                                     std::uint64_t executable,
                                                     const std::string& environment);

/// Records at `revision` that `test` would do what it did in run `earlier`.
Result<RunId> reuse_run(Database& database, RevisionId revision, const TestCase& test, RunId earlier,
                        std::int64_t finished_at);

/// The latest run of every test in the suite of `revision`, by name.
Result<std::vector<RecordedRun>> recorded_tests(Database& database, RevisionId revision,
                                                WithCoverage coverage = WithCoverage::Yes);

}  // namespace simrt::history
