// Coverage of interleavings: pattern instances (MAP) and, for comparison, method pairs. Mergeable: the union
// over executions, tests, shards and revisions.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "model/execution.h"
#include "schedule/patterns/pattern.h"
#include "schedule/patterns/recognise.h"

namespace simrt::schedule {

class PatternCoverage {
 public:
  /// How many instances were new.
  std::size_t add(const std::unordered_set<PatternInstance>& instances);
  std::size_t add(const Recognised& recognised);
  std::size_t merge(const PatternCoverage& other);
  bool contains(const PatternInstance& instance) const { return instances_.contains(instance); }
  std::size_t size() const { return instances_.size(); }
  /// True when some execution had more instances than could be kept.
  bool cut() const { return cut_; }
  /// Those with at least one step at an impacted site (MAP coverage of a diff).
  PatternCoverage impacted(const std::unordered_set<SiteId>& sites) const;
  /// Those all of whose sites are among `sites` (MAP coverage of a class or a file).
  PatternCoverage within(const std::unordered_set<SiteId>& sites) const;
  /// Drops what involves one of the sites: after a change it has to be covered again.
  void forget(const std::unordered_set<SiteId>& sites);
  std::vector<PatternInstance> sorted() const;

 private:
  std::unordered_set<PatternInstance> instances_;
  bool cut_ = false;
};

bool is_impacted(const PatternInstance& instance, const std::unordered_set<SiteId>& sites);

/// Which sites read and write a variable. Addresses mean nothing in the next execution, so a variable is
/// known by its sites: sites that touched a common address are sites of one variable. This over-estimates
/// where one site touches memory of several kinds (a copy routine).
class AccessTable {
 public:
  /// Only variables that two threads touched, one writing, count.
  void add(const Execution& execution);
  void merge(const AccessTable& other);

  struct Variable {
    std::set<SiteId> readers, writers;
    /// Two addresses of it were shared in one execution, so that it can be both x and y of a pattern.
    bool several = false;
  };
  std::vector<Variable> variables() const;
  /// TC of the paper, definition 1: the sum over variables and pairs of variables. Saturates at UINT64_MAX.
  std::uint64_t total() const;
  /// The part of patterns 1 to 8, and of 9 to 17.
  std::uint64_t total_one_variable() const;
  std::uint64_t total_two_variables() const;

 private:
  struct Touch {
    bool reads = false, writes = false;
  };
  std::size_t root(std::size_t at) const;
  std::size_t number(SiteId site);
  void join(SiteId a, SiteId b);

  std::map<SiteId, std::size_t> numbers_;
  std::vector<SiteId> sites_;
  std::vector<Touch> touches_;
  std::vector<std::size_t> parents_;
  std::set<SiteId> several_;  ///< a site of every variable with two addresses
};

/// Method pairs that ran concurrently (CovCon): what a site's method is, the caller knows.
class MethodPairCoverage {
 public:
  using Pair = std::pair<FunctionId, FunctionId>;  ///< first <= second
  /// Counts pairs of methods whose calls overlapped: between the first and last event of one thread in a
  /// method there was an event of another thread in the other.
  void add(const Execution& execution, const std::map<SiteId, FunctionId>& method_of);
  void merge(const MethodPairCoverage& other);
  /// In how many executions each pair ran concurrently.
  const std::map<Pair, std::uint64_t>& pairs() const { return pairs_; }

 private:
  std::map<Pair, std::uint64_t> pairs_;
};

}  // namespace simrt::schedule
