// A recorded execution of a check build as the schedule layer sees it: sites and roles that are the same in
// every build instead of addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/execution.h"
#include "pipeline/execution/symbols.h"
#include "pipeline/execution/test_program.h"
#include "testing/check_plan.h"

namespace simrt::pipeline {

/// Where a site stands, for reports and for the history.
struct SitePlace {
  std::string function, file;
  std::uint32_t line = 0, column = 0;
  FunctionId method;
};

/// A site as the runtime knows it.
struct Hook {
  testing::CheckSite site;
  std::uint64_t calls = 0;  ///< format::RunEvent::calls where the code at the site is a library's; else 0
  auto operator<=>(const Hook&) const = default;
};

/// Knows the sites of one program. A site's name is the statement (without white space), the position in it
/// and the calls that led there, from the project's own code on inwards: edits elsewhere leave it as it is,
/// and each use of a library's inline function is a site of its own. Not thread-safe.
class RecordedSites {
 public:
  explicit RecordedSites(Symbols& symbols) : symbols_(symbols) {}

  /// The execution must have been recorded with events.
  Execution convert(const Observed& seen);

  /// Hook sites that made events of this kind at the site, in the order in which they were met.
  const std::vector<Hook>& hooks_of(SiteId site, EventKind kind) const;
  /// Of the modules that hooks_of() speaks of.
  const std::vector<testing::CheckModule>& modules() const { return modules_; }
  const std::map<SiteId, SitePlace>& places() const { return places_; }
  /// Sites of these places in the sources (file, line), of those met so far.
  std::unordered_set<SiteId> sites_at(const std::map<std::string, std::vector<std::uint32_t>>& lines) const;
  /// Of each site its method, for coverage of method pairs.
  const std::map<SiteId, FunctionId>& methods() const { return methods_; }

 private:
  void take_modules(const testing::Execution& execution);
  void learn_new(const testing::Execution& execution);
  struct Place {
    SiteId site;
    std::optional<Hook> hook;
  };
  static std::uint64_t key_of(const format::RunEvent& event);
  const std::vector<SiteId>& callers_of(const testing::Execution& execution, std::uint64_t calls);
  Place name_site(const testing::Execution& execution, const format::RunEvent& event);
  std::vector<ExecutionThread> threads_of(const testing::Execution& execution);

  Symbols& symbols_;
  std::vector<testing::CheckModule> modules_;
  std::vector<std::uint64_t> biases_;
  std::unordered_map<std::uint64_t, Place> known_;                  // by program counter and calls
  std::unordered_map<std::uint64_t, SiteId> sites_;                 // by program counter, for waits
  std::unordered_map<std::uint64_t, std::vector<SiteId>> callers_;  // by calls, innermost first
  std::map<SiteId, SitePlace> places_;
  std::map<SiteId, FunctionId> methods_;
  std::map<std::pair<SiteId, EventKind>, std::vector<Hook>> hooks_;
  std::unordered_set<std::uint64_t> known_hooks_;  // (program counter, calls, kind)
  std::map<std::vector<std::uint64_t>, std::string> creations_;
};

/// The first event at which two executions under one schedule differ; SIZE_MAX when they are alike.
/// Addresses are compared as well when `addresses`.
std::size_t first_difference(const testing::Execution& one, const testing::Execution& other, bool addresses);

}  // namespace simrt::pipeline
