// Who decides what a program runs next: one of the strategies of `simrt explore`, or the portfolio of them.
// A new one is one file steer_*.cc and one line in steering.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/steer/knowledge.h"
#include "support/result.h"
#include "testing/check_plan.h"

namespace simrt::pipeline {

/// What a strategy asks for.
struct Proposal {
  testing::CheckPlan plan;     ///< strategy, its parameters and its modules; the rest is the driver's
  bool all_points = false;     ///< every plain access is to be a point, but for those at `plan.watched`
  bool deterministic = false;  ///< the plan follows a schedule that has to fit
  std::string aim;             ///< for people: what it aims at; may be empty
};

struct SteeringReport {
  bool finished = false;  ///< nothing is left to try
  bool complete = false;  ///< everything within `scope` was covered
  std::string scope;      ///< what `complete` is about: "all interleavings ...", "up to 2 preemptions"
  std::vector<std::string> lines;  ///< figures, for people
};

class Steering {
 public:
  virtual ~Steering() = default;
  Steering() = default;
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  /// The next execution; nothing when nothing is left. Asked once for each answer to learn().
  virtual std::optional<Proposal> next() = 0;
  /// What came of the last proposal. The knowledge has learned from it before.
  virtual void learn(const Execution& execution, const Observed& seen, const Learned& learned) = 0;
  /// The same of an execution that another one proposed.
  virtual void watch(const Execution& execution, const Learned& learned) {
    (void)execution;
    (void)learned;
  }
  virtual SteeringReport report() const = 0;
  /// Whether it knows of something definite that it has not aimed at yet.
  virtual bool has_untried() const { return false; }
  /// False for those whose end is their own: saturation does not stop them.
  virtual bool stops_at_saturation() const { return true; }
};

struct SteeringOptions {
  std::string strategy = "auto";
  std::uint64_t seed = 1;
  std::uint64_t executions = 0;  ///< the budget, 0 = none: the portfolio shares it out
  const Knowledge* knowledge = nullptr;
  const RecordedSites* sites = nullptr;
};

/// Errors: Usage, for a name that is none or a combination that is unsound ("dpor+pcb2"; the reason is in
/// it).
Result<std::unique_ptr<Steering>> make_steering(const SteeringOptions& options);

/// For --help: names, with N where a number belongs.
const std::vector<std::string>& strategy_names();

// Each in a file of its own; `argument` is what follows the name ("3" of "pct3").
using SteeringResult = Result<std::unique_ptr<Steering>>;
SteeringResult steer_sampling(const SteeringOptions& options, const std::string& name, std::uint64_t number);
SteeringResult steer_patterns(const SteeringOptions& options);
SteeringResult steer_pairs(const SteeringOptions& options);
SteeringResult steer_search(const SteeringOptions& options, const std::string& name);
SteeringResult steer_reads_from(const SteeringOptions& options);
SteeringResult steer_periods(const SteeringOptions& options);
SteeringResult steer_delays(const SteeringOptions& options);
SteeringResult steer_states(const SteeringOptions& options);
SteeringResult steer_portfolio(const SteeringOptions& options);

}  // namespace simrt::pipeline
