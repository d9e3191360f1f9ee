// `simrt check`: the chosen tests in order, each watched, its potential bugs driven into witnesses, all
// compared with what the history knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/findings_view.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::pipeline {

struct CheckRequest {
  std::string directory = ".";
  std::string database;  ///< empty: as configured
  /// Whose tests are run; relative: below the repository's root. Empty: the configured check build, for
  /// Helgrind and DRD the user's own one.
  std::string build;
  std::string base;                   ///< as for select
  std::string head = "HEAD";          ///< what the check build was built from
  std::vector<std::string> tests;     ///< globs: these tests instead of the selected ones
  bool all = false;                   ///< every test, and findings anywhere
  std::string detector = "builtin";   ///< or "tsan", "helgrind", "drd"
  std::optional<std::uint64_t> seed;  ///< default: as configured
  double budget_seconds = 0;          ///< 0: none
  double timeout_seconds = 20;        ///< of one execution
  unsigned jobs = 1;                  ///< tests at once; one: the same findings for the same seed
  std::string shard;                  ///< "i/n"
  unsigned schedules = 200;           ///< of the portfolio, a test
  unsigned tries = 12;                ///< executions of each order of a potential bug
  const InterruptToken* interrupt = nullptr;
};

/// Every finding is in the history as soon as its test has ended; an interrupt or the budget ends the run
/// with what there is (CheckView::complete). Errors: Project (no check build, no such test,
/// no such tool), and those of
/// run_select.
Result<report::CheckView> run_check(const CheckRequest& request);

}  // namespace simrt::pipeline
