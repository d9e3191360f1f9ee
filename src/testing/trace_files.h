// Names of the files in which an instrumented test leaves its coverage. What is in them: trace.h.
#pragma once

#include <string>
#include <vector>

#include "model/ids.h"
#include "support/result.h"

namespace simrt::testing {

/// Value of SIMRT_TRACE for the test: "<directory>/<id in 16 hex digits>.trace". Processes that the test
/// forks or executes append "." and something of their own.
std::string trace_file(const std::string& directory, TestId test);

/// Trace files of the test that exist, the test's own process first, then as trace_files() orders them.
std::vector<std::string> find_traces(const std::string& directory, TestId test);

/// Deletes them. ErrorCode::Storage.
Status remove_traces(const std::string& directory, TestId test);

}  // namespace simrt::testing
