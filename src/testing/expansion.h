// Turns a test that runs a whole program into one test per case of the program.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "model/test.h"
#include "support/interrupt.h"
#include "testing/framework.h"

namespace simrt::testing {

/// Detects each program's framework once. Thread-safe.
class ProgramFrameworks {
 public:
  /// Of the program that the test's command starts.
  TestMain of(const TestCase& test);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, TestMain> known_;  ///< by program and library path
};

struct ExpansionOptions {
  double listing_timeout_seconds = 30;
  bool parallel_cases = false;  ///< false: a lock keeps the cases of one test apart, as the program does
};

struct Expansion {
  std::vector<TestCase> tests;  ///< at least one
  std::string warning;          ///< empty, or why the test stays whole
};

/// Lists the program's cases where that is called for; see discover_tests() for the rules. Thread-safe.
Expansion expand_test(const TestCase& test, ProgramFrameworks& frameworks, const ExpansionOptions& options,
                      const InterruptToken* interrupt);

}  // namespace simrt::testing
