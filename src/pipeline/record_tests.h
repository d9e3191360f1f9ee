// Second half of recording: runs the tests that are new, changed or asked for, and stores what each thread
// covered.
#pragma once

#include <vector>

#include "history/block_numbers.h"
#include "history/row_ids.h"
#include "model/test.h"
#include "pipeline/record.h"
#include "pipeline/trace_coverage.h"
#include "pipeline/workspace.h"
#include "testing/discover.h"
#include "testing/shard.h"

namespace simrt::pipeline {

struct TestRecording {
  const Workspace& workspace;
  history::Database& database;
  history::RevisionId revision;
  std::string environment;  ///< key
  const RecordRequest& request;
  TraceCoverage& traces;
  bool whole_suite =
      false;  ///< what is found is all there is: tests recorded earlier that are gone leave the suite
};

/// All tests of the instrumented build, in discovery order. Errors: Project.
Result<testing::Discovery> tests_to_record(const Workspace& workspace, const RecordRequest& request);

/// Notes all `tests`, then runs or takes over those that the request and `shard` are about; every finished
/// test is committed at once. Counts go into `summary`. Errors: History, Storage; Interrupted after what was
/// running has been stopped.
Status record_tests(const TestRecording& recording, std::vector<TestCase> tests, testing::Shard shard,
                    RecordSummary& summary);

}  // namespace simrt::pipeline
