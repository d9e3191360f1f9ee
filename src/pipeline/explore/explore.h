// `simrt explore`: tests of the check build, or one program, under schedules that a strategy chooses; what
// was covered is remembered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/explore_view.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::pipeline {

struct ExploreRequest {
  std::string directory = ".";
  std::string database;              ///< empty: as configured
  std::string build;                 ///< the check build; empty: as configured
  std::string base;                  ///< as for select: the selected tests, what the change touches first
  std::string head = "HEAD";         ///< what the check build was built from
  std::vector<std::string> tests;    ///< globs
  bool all = false;                  ///< every test
  std::vector<std::string> program;  ///< argv: this program instead of tests of a build
  std::string strategy = "auto";
  std::optional<std::uint64_t> seed;  ///< default: as configured, 1 for a program outside a repository
  std::uint64_t executions = 1000;    ///< of each test; 0: no bound
  double seconds = 0;                 ///< for each test; 0: no bound
  double timeout_seconds = 20;        ///< of one execution
  bool keep_going = false;            ///< behind the first failing execution
  bool saturation = true;             ///< may end the exploration of a test
  bool again = false;                 ///< although an earlier exploration left nothing to do
  bool describe = true;               ///< shorten, describe and keep failing schedules
  bool history = true;                ///< read and keep what is known
  unsigned jobs = 1;                  ///< tests at once
  const InterruptToken* interrupt = nullptr;
};

/// Errors: Usage (strategy), Project (no check build, no such test), those of run_select for a base.
Result<report::ExploreView> run_explore(const ExploreRequest& request);

}  // namespace simrt::pipeline
