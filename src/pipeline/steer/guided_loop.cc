#include "pipeline/steer/guided_loop.h"

#include <algorithm>

namespace simrt::pipeline {
namespace {

using testing::CheckPlan;

// Most points of one execution: of the first, and then so many times those of the longest that came to an
// end.
constexpr std::uint64_t kMostPoints = 4'000'000, kFewestPoints = 200'000, kTimesLonger = 20;
constexpr std::uint64_t kRefresh = 16;  // every so many executions all plain accesses are points again
// Coverage is a proxy: bugs may hide behind schedules that cover nothing new, so saturation is judged slowly.
constexpr schedule::SaturationRule kRule{.probability = 0.01, .stale = 200, .executions = 200};

}  // namespace

GuidedLoop::GuidedLoop(Execute execute, Symbols& symbols, GuidedOptions options)
    : execute_(std::move(execute)),
      options_(std::move(options)),
      sites_(std::make_unique<RecordedSites>(symbols)),
      knowledge_(std::make_unique<Knowledge>(kRule)) {}

Result<std::unique_ptr<GuidedLoop>> GuidedLoop::create(Execute execute, Symbols& symbols,
                                                       GuidedOptions options) {
  std::unique_ptr<GuidedLoop> loop(new GuidedLoop(std::move(execute), symbols, std::move(options)));
  SteeringOptions steering;
  steering.strategy = loop->options_.strategy;
  steering.seed = loop->options_.seed;
  steering.executions = loop->options_.executions;
  steering.knowledge = loop->knowledge_.get();
  steering.sites = loop->sites_.get();
  auto made = make_steering(steering);
  if (!made) return fail(made.error());
  loop->steering_ = std::move(*made);
  return loop;
}

CheckPlan GuidedLoop::complete(const Proposal& proposal) const {
  CheckPlan plan = proposal.plan;
  plan.mode = format::RunMode::Control;
  plan.flags |= format::kPlanRecordEvents;
  const std::uint64_t longest = knowledge_->points();
  plan.max_points =
      longest == 0 ? kMostPoints : std::clamp(kTimesLonger * longest, kFewestPoints, kMostPoints);
  plan.short_sleep_ns = options_.short_sleep_ns;
  plan.modules = sites_->modules();
  if (proposal.deterministic) plan.flags |= format::kPlanStrictSchedule;
  if (!proposal.all_points && executions_ % kRefresh != 0) plan.watched = knowledge_->private_hooks(*sites_);
  if (!plan.watched.empty()) plan.flags |= format::kPlanSitesIgnored;
  return plan;
}

void GuidedLoop::learn(const CheckPlan& plan, const Observed& seen) {
  const Execution converted = sites_->convert(seen);
  if (!options_.impacted.empty()) knowledge_->set_impacted(sites_->sites_at(options_.impacted));
  Learned learned = knowledge_->learn(converted, seen, *sites_, plan.hold != 0);
  learned.every_access = plan.watched.empty();
  learned.by_default = (plan.flags & format::kPlanStrictSchedule) != 0 && plan.schedule.empty() &&
                       (seen.result.execution.flags & format::kRunEnabledCut) == 0;
  steering_->learn(converted, seen, learned);
}

Result<std::optional<GuidedStep>> GuidedLoop::next() {
  const auto proposal = steering_->next();
  if (!proposal) return std::optional<GuidedStep>();
  GuidedStep step;
  step.plan = complete(*proposal);
  auto seen = execute_(step.plan);
  if (!seen) return fail(seen.error());
  step.seen = std::move(*seen);
  if (step.seen.result.end != testing::CheckEnd::NotUnderPlan) {
    ++executions_;
    learn(step.plan, step.seen);
  }
  return std::optional(std::move(step));
}

}  // namespace simrt::pipeline
