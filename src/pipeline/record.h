// `simrt record`: facts of the checked-out revision and, per test, which blocks each thread covered, how long
// it took and how it ended. What an earlier recording knows is not parsed or run again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::pipeline {

struct RecordRequest {
  std::string directory = ".";
  std::string database;           ///< empty: as configured
  std::vector<std::string> only;  ///< globs on test names; empty: all
  unsigned jobs = 0;              ///< 0: as configured, else one a processor
  std::string shard;              ///< "2/5": the second of five parts; empty: the whole suite
  double timeout_seconds = 0;     ///< 0: the test's own, else as configured
  bool again = false;             ///< run tests whose program did not change, too
  bool facts_only = false;        ///< parse, run nothing
  bool allow_dirty = false;       ///< record although tracked files are modified
  const InterruptToken* interrupt = nullptr;
};

struct RecordSummary {
  std::string revision, database;
  std::size_t units = 0, parsed_units = 0, broken_units = 0, functions = 0;
  std::size_t tests = 0, ran = 0, reused = 0, passed = 0, failed = 0, crashed = 0, timed_out = 0, skipped = 0;
  std::size_t multi_threaded = 0;
  std::size_t gone = 0;  ///< tests of an earlier recording of this revision that there are no more
  std::uint64_t blocks = 0, mapped = 0, inherited = 0, unmapped = 0;  ///< of modules mapped in this run
  std::uint64_t optimised_functions = 0;                              ///< of these modules
  double seconds = 0;
  bool facts_only = false;  ///< no test was looked at
  bool complete = false;
  std::vector<std::string> warnings;
  std::vector<std::string> failures;          ///< "name: how it ended"
  std::vector<std::string> without_coverage;  ///< tests that ran and left none that can be used; by name
};

/// Errors: Project (no configuration, database or tests), Repository, History, Storage. An interrupt is not
/// an error: what was recorded is kept, `complete` is false.
Result<RecordSummary> run_record(const RecordRequest& request);

/// For people, newline-terminated; the same in JSON.
std::string render_record(const RecordSummary& summary);
std::string render_record_json(const RecordSummary& summary);

}  // namespace simrt::pipeline
