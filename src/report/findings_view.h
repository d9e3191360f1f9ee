// What a report of a check needs. Reports are pure: the same view gives the same bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/finding.h"

namespace simrt::report {

struct CheckedTestLine {
  std::string name;
  std::uint64_t executions = 0;
  double seconds = 0;
  bool complete = true;
  bool took_part = true;  ///< false: nothing of it was checked
  std::vector<std::string> notes;
};

/// A known bug that this run should have seen and did not.
struct FixedFinding {
  std::string finding;  ///< fingerprint
  std::string title;
};

struct CheckView {
  std::string head, base;  ///< base empty: everything was looked at
  std::string detector;
  std::uint64_t seed = 0;
  double seconds = 0;
  bool complete = true;
  std::size_t not_run = 0;  ///< tests that the budget or an interrupt left out
  std::size_t with_part = 0,
              without_part =
                  0;  ///< tests whose program took part; that was not started, or is no check build
  std::uint64_t outside = 0;
  std::vector<CheckedTestLine> tests;
  std::vector<Finding> findings;  ///< in the order of the report
  std::vector<FixedFinding> fixed;
  std::vector<std::string> notes;

  std::size_t count(FindingStatus status) const;
  /// Confirmed, and neither known nor suppressed: what makes a check fail.
  std::size_t new_bugs() const;
  /// There were tests to check, and the program of none of them took part.
  bool nothing_checked() const { return without_part != 0 && with_part == 0; }
};

std::string render_check_text(const CheckView& view);
std::string render_check_json(const CheckView& view);

/// Everything about one finding. `number`: in the list; 0 = none.
std::string finding_text(const Finding& finding, std::size_t number);
nlohmann::ordered_json finding_json(const Finding& finding);

/// The steps in one column a thread, side by side; at most four columns, further threads share the last one.
std::string interleaving_text(const std::vector<InterleavingStep>& steps, const std::string& indent);

}  // namespace simrt::report
