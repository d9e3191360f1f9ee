// What of a program a check looks at: everything, or what a diff put at risk.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/finding.h"
#include "model/impact.h"
#include "model/program.h"
#include "pipeline/check/watched_sites.h"
#include "report/selection_view.h"

namespace simrt::pipeline {

class Scope {
 public:
  /// Everything.
  Scope() = default;
  /// The impacted accesses and their partners.
  Scope(const report::SelectionView& selection, std::shared_ptr<const Program> head);

  bool restricted() const { return restricted_; }
  /// Whether the finding may be due to the diff. Lock cycles, failures and hangs always may: what orders
  /// locks is not in the pairs.
  bool covers(const Finding& finding) const;
  /// The impacted pair and the hunk behind it.
  std::optional<FindingCause> cause(const Finding& finding) const;

  /// Files and lines of the impacted accesses themselves.
  std::map<std::string, std::vector<std::uint32_t>> places() const;

  /// What is watched of a test's program and its libraries below `build`; everything without a restriction.
  /// Thread-safe; looked up once a program.
  WatchedSites watched(const std::string& program, const std::string& build, const std::string& root) const;

 private:
  struct Known {
    std::mutex mutex;
    std::map<std::string, WatchedSites> by_program;
    LibraryCode libraries;
    std::vector<std::string> sources;  // of head_
  };
  std::vector<std::uint32_t> accesses_of(const FindingSide& side) const;

  bool restricted_ = false;
  Impact impact_;
  std::shared_ptr<const Program> head_;
  std::vector<std::string> texts_;                                                  // by access
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::uint32_t>> at_;  // file, line -> accesses
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace simrt::pipeline
