// Finds the tests of a project: from its build system, from named programs and from plain commands, with each
// case of a GoogleTest, Catch2 or doctest program as a test of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/test.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::testing {

/// A test that the configuration lists.
struct PlainTest {
  std::string name = {};                  ///< empty: the program's file name
  std::vector<std::string> command = {};  ///< argv
  std::string directory = {};             ///< empty: DiscoverOptions::directory
  std::map<std::string, std::string> environment = {};
  double timeout_seconds = 0;
  std::vector<std::string> labels = {};
};

/// Empty members name no source.
struct DiscoverOptions {
  std::string ctest_directory;      ///< CMake build directory
  std::string ctest_configuration;  ///< -C, for multi-configuration generators
  std::string ctest_program = "ctest";
  std::string meson_directory;  ///< Meson build directory
  std::vector<PlainTest> plain;
  std::string directory;        ///< what relative commands and directories of `plain` refer to
  bool expand = true;           ///< false: one test a program, nothing is executed but ctest
  bool parallel_cases = false;  ///< cases split off one test may run at the same time
  double listing_timeout_seconds = 30;
  unsigned jobs = 0;  ///< programs listed at the same time; 0: one a processor
};

struct Discovery {
  std::vector<TestCase> tests;        ///< unique names; ordered by source, then as the source lists them
  std::vector<std::string> warnings;  ///< one line each: not built, could not be listed, renamed duplicates
  bool complete = true;               ///< false: some program is not built, or does not tell its tests
};

/// Names: a CTest, Meson or plain test keeps its name; a case of a program that such a test runs as a whole
/// is "test:Suite.Case". A test that already selects a single case (gtest_discover_tests and its like) keeps
/// its name and gets that framework and selector. A program that crashes, hangs or prints no list is one
/// test, with a warning. So is, without one, a program whose test judges the whole output (WILL_FAIL, pass
/// and fail patterns). Cases split off one test share a resource lock unless options.parallel_cases: their
/// program runs them one after another, so they may share files, ports and names. ErrorCode::Project when no
/// source is given, a source is unusable, or there is no test at all.
Result<Discovery> discover_tests(const DiscoverOptions& options, const InterruptToken* interrupt = nullptr);

}  // namespace simrt::testing
