#include "pipeline/check/portfolio.h"

#include "support/hash.h"

namespace simrt::pipeline {

using format::StrategyKind;

testing::CheckPlan portfolio_plan(const testing::CheckPlan& base, std::uint64_t seed, std::uint64_t points,
                                  unsigned number) {
  testing::CheckPlan plan = base;
  plan.seed = hash_combine(seed, number);
  plan.length = points;
  switch (number % 4) {
    case 0:
      plan.strategy = StrategyKind::Random;
      break;
    case 1:
      plan.strategy = StrategyKind::Pct;
      plan.depth = 2 + number / 4 % 3;
      break;
    case 2:
      plan.strategy = StrategyKind::Pos;
      break;
    default:
      plan.strategy = StrategyKind::Pct;
      plan.depth = 2 + number / 4 % 3;
      plan.flags |= format::kPlanSynchronizationOnly;
      break;
  }
  return plan;
}

}  // namespace simrt::pipeline
