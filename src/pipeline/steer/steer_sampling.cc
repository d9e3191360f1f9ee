// Strategies of the runtime that draw each execution anew: random walk, PCT, POS, SURW.
#include <fmt/format.h>

#include "pipeline/steer/steering.h"
#include "schedule/variable_profile.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

class Sampling final : public Steering {
 public:
  Sampling(const SteeringOptions& options, format::StrategyKind kind, std::uint32_t depth)
      : options_(options), kind_(kind), depth_(depth) {}

  std::optional<Proposal> next() override {
    Proposal proposal;
    proposal.plan.strategy = kind_;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    proposal.plan.depth = depth_;
    proposal.plan.length = last_points_;
    if (kind_ == format::StrategyKind::Surw) select(proposal.plan);
    return proposal;
  }

  void learn(const Execution& execution, const Observed& seen, const Learned&) override {
    last_points_ = seen.result.execution.points;
    watch(execution, {});
  }

  void watch(const Execution& execution, const Learned&) override {
    if (kind_ == format::StrategyKind::Surw) profile_.learn(execution);
  }

  SteeringReport report() const override {
    SteeringReport report;
    report.lines.push_back("a sample: what was not met is not ruled out");
    return report;
  }

 private:
  /// The variable whose interleavings the execution is uniform for: each in proportion to its accesses.
  void select(testing::CheckPlan& plan) const {
    const schedule::VariableProfile::Variable* variable = profile_.draw(hash_combine(plan.seed, 1));
    if (variable == nullptr) return;
    testing::CheckStep step;
    step.address = variable->address;
    plan.steps = {step};
    plan.modules = options_.sites->modules();
    plan.weights = variable->accesses;
  }

  SteeringOptions options_;
  schedule::VariableProfile profile_;
  format::StrategyKind kind_;
  std::uint32_t depth_;
  std::uint64_t number_ = 0, last_points_ = 0;
};

}  // namespace

SteeringResult steer_sampling(const SteeringOptions& options, const std::string& name, std::uint64_t number) {
  using format::StrategyKind;
  if (name == "pct" && (number < 1 || number > 64))
    return fail(ErrorCode::Usage, fmt::format("the depth of pct lies between 1 and 64, not at {}", number));
  const StrategyKind kind = name == "pct"    ? StrategyKind::Pct
                            : name == "pos"  ? StrategyKind::Pos
                            : name == "surw" ? StrategyKind::Surw
                                             : StrategyKind::Random;
  return std::make_unique<Sampling>(options, kind, static_cast<std::uint32_t>(number));
}

}  // namespace simrt::pipeline
