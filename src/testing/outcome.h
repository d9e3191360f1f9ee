// From how a process ended and what it printed to what that means for a test. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/test.h"
#include "support/subprocess.h"

namespace simrt::testing {

struct Verdict {
  Outcome outcome = Outcome::NotRun;
  int exit_code = 0;  ///< exit status, or -signal; 0 when it did not run
  std::vector<std::string> notes;
};

/// CTest's rules for the exit status, WILL_FAIL (which never excuses a crash or a timeout), SKIP_RETURN_CODE
/// and the output patterns; on top of them what frameworks say in their output: a case that skipped itself is
/// Skipped, and a program that has no case of the selected name is NotRun although it ends with status 0.
Verdict judge(const TestCase& test, const ProcessResult& process);

/// Whether a CMake regular expression matches somewhere in the text; a malformed one matches nothing.
bool matches_cmake_pattern(const std::string& pattern, const std::string& text);

/// "left a daemon behind (sleep)", "left 2 child processes behind (a, b)".
std::vector<std::string> describe_left_behind(const ProcessResult& process);

}  // namespace simrt::testing
