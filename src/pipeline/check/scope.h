// What of a program a check looks at: everything, or what a diff put at risk.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/finding.h"
#include "model/impact.h"
#include "report/selection_view.h"
#include "testing/check_plan.h"

namespace simrt::pipeline {

class Scope {
 public:
  /// Everything.
  Scope() = default;
  /// The impacted accesses and their partners.
  explicit Scope(const report::SelectionView& selection);

  bool restricted() const { return restricted_; }
  /// Whether the finding may be due to the diff. Lock cycles, failures and hangs always may: what orders
  /// locks is not in the pairs.
  bool covers(const Finding& finding) const;
  /// The impacted pair and the hunk behind it.
  std::optional<FindingCause> cause(const Finding& finding) const;

  /// Files and lines of the impacted accesses themselves.
  std::map<std::string, std::vector<std::uint32_t>> places() const;

  /// Hook sites of the accesses in a test's program and its libraries below `build`: what the runtime is to
  /// watch. Empty = all: no restriction, or an access whose code was not found or lies inside a library's
  /// template.
  struct Watched {
    std::vector<testing::CheckModule> modules;
    std::vector<testing::CheckSite> sites;
  };
  Watched watched(const std::string& program, const std::string& build, const std::string& root) const;

 private:
  std::vector<std::uint32_t> accesses_of(const FindingSide& side) const;

  bool restricted_ = false;
  Impact impact_;
  std::vector<std::string> texts_;                                                  // by access
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::uint32_t>> at_;  // file, line -> accesses
};

}  // namespace simrt::pipeline
