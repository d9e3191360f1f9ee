// From recorded executions, which pattern instances another schedule could bring about: those that neither
// creation and joining of threads nor a common lock rule out. An estimate from above (data flow may still
// rule one out).
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "model/execution.h"
#include "schedule/patterns/coverage.h"
#include "schedule/patterns/pattern.h"

namespace simrt::schedule {

/// One step for the runtime's sequence-directed strategy (format::PlanStep).
struct TargetStep {
  SiteId site;
  EventKind kind = EventKind::Read;
  std::uint8_t role = 0;      ///< steps of one role are made by one thread, of two roles by two
  std::uint8_t variable = 0;  ///< steps of one variable touch one address
  RoleId thread_role;         ///< of the thread that could make it in the execution it was predicted from
  ThreadIndex thread = kNoThread;
};

struct Target {
  PatternInstance instance;
  std::vector<TargetStep> steps;
  bool impacted = false;
};

struct PredictionLimits {
  std::size_t instances = 200'000;          ///< most feasible instances that are kept
  std::uint64_t combinations = 20'000'000;  ///< most combinations of accesses looked at in one execution
};

class Predictor {
 public:
  explicit Predictor(PredictionLimits limits = {}) : limits_(limits) {}
  void add(const Execution& execution);

  /// Feasible instances that `covered` lacks: impacted ones first, then by urgency_of(), then by sites.
  std::vector<Target> targets(const PatternCoverage& covered,
                              const std::unordered_set<SiteId>& impacted = {}) const;
  /// How many instances are feasible, by the executions seen; a lower bound of that when `cut()`.
  std::uint64_t feasible() const { return feasible_.size(); }
  bool is_feasible(const PatternInstance& instance) const { return feasible_.contains(instance); }
  bool cut() const { return cut_; }

 private:
  PredictionLimits limits_;
  std::map<PatternInstance, std::vector<TargetStep>> feasible_;
  bool cut_ = false;
};

}  // namespace simrt::schedule
