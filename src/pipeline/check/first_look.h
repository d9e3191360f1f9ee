// What a run or a few of each test show of the diff, before anything is verified: where a budget does not
// reach all tests, those that showed a race come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/check/check_test.h"

namespace simrt::pipeline {

/// Best first; the first two are equally good.
enum class Promise : std::uint8_t {
  Race,     ///< nothing ordered two accesses that the diff put at risk
  Failure,  ///< it failed under a schedule, and not by itself
  Open,     ///< anything else; not looked at, or not to its end
  Alone     ///< it ran with one thread
};

struct FirstLook {
  Promise promise = Promise::Open;
  bool ended = false;             ///< the test came to its end within the look
  std::optional<WatchedRun> run;  ///< what check_test need not watch again
};

/// Runs each test under the detector, the quickest first (`recorded`: their durations in seconds; 0 =
/// unknown), for a few seconds at most, `jobs` at once. `seconds` in all; while none has shown a race,
/// somewhat more than twice as many. Those that are not reached are Open, as are those that cannot be run.
/// Tests that take their time run under control first: those that sleep and wait end at once there, since
/// time is virtual; what computes is left alone after half of its duration and runs freely.
std::vector<FirstLook> first_looks(const std::vector<TestCase>& tests, const std::vector<double>& recorded,
                                   const TestCheckOptions& options, double seconds, unsigned jobs);

/// Indexes: where a race or a failure was seen first, of those the ones that ended within the look, which can
/// be tried often; tests with one thread last. All others stay in their order: what one free run hints at
/// says less of a test than the selection does.
std::vector<std::size_t> by_promise(const std::vector<FirstLook>& looks);

}  // namespace simrt::pipeline
