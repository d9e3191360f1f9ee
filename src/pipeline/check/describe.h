// From an execution's records to findings, and to what it takes to bring each about again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "pipeline/check/diagnose.h"
#include "pipeline/execution/symbols.h"
#include "testing/check_plan.h"
#include "testing/check_program.h"
#include "testing/execution.h"

namespace simrt::pipeline {

/// How an execution chose who goes on.
struct Walk {
  format::StrategyKind strategy = format::StrategyKind::Random;
  std::uint64_t seed = 1, length = 0;
  std::uint32_t depth = 0;
};

/// A potential finding with the sites to aim at.
struct Candidate {
  Finding finding;
  std::uint64_t fingerprint = 0;
  bool witnessed = false;  ///< this very execution showed it
  /// A guess at what belongs together, or a lock handed over may well have ordered it: no hint unless shown.
  bool weak = false;
  std::optional<Walk> walk;  ///< of a controlled execution that hinted at it: came close to it
  bool missed = false;       ///< aimed at together with others, and never brought about
  std::optional<testing::CheckPlan> shown_by;  ///< a controlled execution that did: follows its schedule
  std::vector<testing::CheckModule> modules;
  std::vector<testing::CheckPair> pairs;  ///< Race
  std::vector<testing::CheckStep> steps;  ///< Deadlock, Atomicity
};

/// Every race, lock cycle and unserialisable access that the execution's records hold, in their order.
std::vector<Candidate> candidates_of(const testing::Execution& execution, Symbols& symbols);

/// A circle of waiting threads, or a hang without one, of an execution that ended so.
Finding describe_stuck(const testing::Execution& execution, Symbols& symbols);

/// A crash or failure; the execution was recorded with events. `ending` is what identifies it.
Finding describe_failure(const testing::CheckResult& result, const std::string& ending, Symbols& symbols);

/// What `diagnose` found in the executions.
Finding describe_diagnosis(const Diagnosis& diagnosis, const std::vector<JudgedExecution>& executions,
                           Symbols& symbols);

/// The race that an order may stand for: its two accesses, one of which at least is no atomic one.
std::optional<Candidate> race_of(const Diagnosis& diagnosis, const std::vector<JudgedExecution>& executions,
                                 const Finding& described);

StepKind step_kind(format::EventKind kind);

}  // namespace simrt::pipeline
