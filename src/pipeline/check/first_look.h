// What one free run of a test shows of the diff, before anything is verified: where a budget does not reach
// all tests, those that showed something come first.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/check/check_test.h"

namespace simrt::pipeline {

/// Best first.
enum class Promise : std::uint8_t {
  Race,     ///< nothing ordered two accesses that the diff put at risk
  Pair,     ///< another schedule could bring two of them together
  Failure,  ///< it did not pass
  Hint,     ///< anything else that another schedule could bring about
  Unknown,  ///< not looked at, or not to its end
  Threads,  ///< two threads or more, no hint
  Alone     ///< one thread
};

struct FirstLook {
  Promise promise = Promise::Unknown;
  std::optional<WatchedRun> run;  ///< what check_test need not watch again
};

/// Runs the test once under the detector, for `seconds` at most. Errors: as check_test.
Result<FirstLook> first_look(const TestCase& test, const TestCheckOptions& options, double seconds);

}  // namespace simrt::pipeline
