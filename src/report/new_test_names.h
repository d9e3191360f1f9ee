// What a test is called that no recorded build holds yet: guessed from the tests that stand in the same file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/selection_view.h"

namespace simrt::report {

struct NewTestNames {
  std::vector<std::string> names;                            ///< as `record` will call it
  std::vector<std::pair<std::string, std::string>> filters;  ///< (program, pattern for --gtest_filter)
  std::vector<std::string> ctest;                            ///< regular expressions, not anchored
};

/// Empty lists where nothing can be said (a Catch2 or doctest case has its name in no function's name).
/// Patterns may fit other tests as well, never too few.
NewTestNames names_of(const NewTest& test, const SelectionView& view);

/// Names of the tests to run that `format` cannot express, so that the caller can say so.
std::vector<std::string> left_out_of(const SelectionView& view, Format format);

}  // namespace simrt::report
