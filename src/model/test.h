// Tests, their runs, and the decision taken for each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/coverage.h"
#include "model/ids.h"

namespace simrt {

enum class Framework : std::uint8_t { Plain, CTest, GoogleTest, Catch2, Doctest };

/// What decides, apart from the exit status, when and how a test may run and whether it passed (CTest
/// properties).
struct TestRules {
  std::vector<std::string> unset_environment;  ///< variables removed from the inherited environment
  std::vector<std::string> pass_patterns;      ///< CMake regular expressions on the output: one must match
  std::vector<std::string> fail_patterns;      ///< none may match
  std::vector<std::string> skip_patterns;      ///< a match means skipped
  std::vector<std::string> required_files;     ///< without them the test does not run
  std::vector<std::string> depends;            ///< names of CTest tests that run before it
  std::vector<std::string> fixtures_setup, fixtures_required, fixtures_cleanup;
  std::vector<std::string> resource_locks;  ///< tests that share one never run at the same time
  bool run_serial = false;                  ///< runs alone
  std::uint32_t processors = 1;             ///< job slots it takes
  bool operator==(const TestRules&) const = default;
};

struct TestCase {
  TestId id;
  std::string name;      ///< unique: "ctest name" or "program:Suite.Case"
  std::string ctest;     ///< the CTest test that runs it; empty when unknown to CTest
  std::string selector;  ///< framework-native name of the case ("Suite.Case"); empty for whole programs
  Framework framework = Framework::Plain;
  std::vector<std::string> command;  ///< argv, program first; never passed through a shell
  std::string directory;             ///< working directory
  std::map<std::string, std::string> environment;
  double timeout_seconds = 0;  ///< 0 = default of the configuration
  bool disabled = false;
  bool will_fail = false;       ///< CTest WILL_FAIL
  std::vector<int> skip_codes;  ///< CTest SKIP_RETURN_CODE
  std::vector<std::string> labels;
  TestRules rules;
};

enum class Outcome : std::uint8_t { Passed, Failed, Crashed, TimedOut, Skipped, NotRun };

struct TestRun {
  TestId test;
  Outcome outcome = Outcome::NotRun;
  int exit_code = 0;               ///< exit status, or -signal
  double seconds = 0;              ///< wall time
  std::uint64_t executable = 0;    ///< hash of the program and the project's shared objects it loads
  std::vector<std::string> notes;  ///< "forked 3 children", "2 threads alive at exit", "left a daemon behind"
  TestCoverage coverage;
  bool has_coverage = false;  ///< false: no trace appeared (not instrumented)
};

}  // namespace simrt
