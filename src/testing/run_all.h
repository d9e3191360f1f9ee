// Runs several tests at the same time, as far as their rules allow.
#pragma once

#include <functional>
#include <vector>

#include "model/test.h"
#include "support/interrupt.h"
#include "support/progress.h"
#include "testing/runner.h"

namespace simrt::testing {

struct RunAllOptions {
  RunOptions run;
  unsigned jobs = 1;                     ///< 0: one a processor
  Progress* progress = nullptr;          ///< advanced per test
  std::vector<double> expected_seconds;  ///< by test, for the progress' time left; may be empty
};

/// A test and what became of it, or why it could not be tried.
using RunFinished = std::function<Status(const TestCase&, const Result<RunResult>&)>;

/// Runs each test once, in the given order where the rules leave a choice: a test with RUN_SERIAL runs alone,
/// tests that share a RESOURCE_LOCK not at the same time, PROCESSORS counts as so many jobs, a fixture's
/// set-up before and its clean-up after those that require it, DEPENDS before (as far as those tests are
/// among `tests`). When a set-up does not pass, the tests that require it are NotRun with a note. `finished`
/// is called on the calling thread, once per test in the order in which tests end, as soon as each has ended;
/// when it fails no further test starts and its error is returned. After an interrupt running tests are
/// stopped (their results have `interrupted` set, `finished` sees them), no further test starts, and the
/// error is ErrorCode::Interrupted.
Status run_all(const std::vector<TestCase>& tests, const RunAllOptions& options, const RunFinished& finished,
               const InterruptToken* interrupt = nullptr);

/// The chosen tests (indices into `tests`) and the set-up and clean-up tests of the fixtures they require,
/// transitively; ascending. What a run of a selection needs to run.
std::vector<std::size_t> with_fixtures(const std::vector<TestCase>& tests,
                                       const std::vector<std::size_t>& chosen);

}  // namespace simrt::testing
