// MAP-guided scheduling (ASE 2019): one execution for each pattern instance that is feasible and not covered
// yet; what an execution covers besides is credited. Where an instance was not brought about, it is tried
// again a few times, later.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/steer/steering.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using schedule::PatternInstance;
using schedule::Target;

constexpr std::uint32_t kMostSkipped = 8;
constexpr unsigned kTries = 3;  // of one instance, then it is reported as not reached

class PatternDirected final : public Steering {
 public:
  explicit PatternDirected(const SteeringOptions& options) : options_(options) {}

  std::optional<Proposal> next() override {
    Proposal proposal;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    aimed_.reset();
    const Target* target = options_.knowledge->executions() == 0 ? nullptr : next_target();
    if (target == nullptr) {  // nothing to predict from, or all was tried: another sample may show more
      proposal.plan.strategy = format::StrategyKind::Pos;
      return proposal;
    }
    aimed_ = target->instance;
    was_covered_ = options_.knowledge->covered().contains(*aimed_);
    proposal.plan.strategy = format::StrategyKind::Sequence;
    proposal.plan.length = options_.knowledge->points();
    proposal.plan.hold = options_.knowledge->points() + 1000;
    proposal.plan.modules = options_.sites->modules();
    const unsigned attempt = tries_[target->instance]++;
    if (attempt > 1) proposal.plan.depth = static_cast<std::uint32_t>(proposal.plan.seed % kMostSkipped);
    for (const schedule::TargetStep& step : target->steps) {
      testing::CheckStep wanted;
      const auto& hooks = options_.sites->hooks_of(step.site, step.kind);
      if (!hooks.empty()) {
        wanted.site = hooks[attempt % hooks.size()].site;
        wanted.calls = hooks[attempt % hooks.size()].calls;
      }
      wanted.kind = step.kind;
      wanted.role = step.role;
      wanted.variable = step.variable;
      // With the threads of the execution it was predicted from; then with any, at a later time of the first
      // step.
      if (attempt == 0) wanted.thread = step.thread;
      proposal.plan.steps.push_back(wanted);
    }
    proposal.aim = fmt::format("pattern {}", target->instance.pattern);
    return proposal;
  }

  void learn(const Execution&, const Observed& seen, const Learned&) override {
    if (!aimed_) return;
    const std::uint32_t flags = seen.result.execution.flags;
    const bool done = (flags & format::kRunSequenceDone) != 0;
    if (done && (flags & format::kRunHoldGivenUp) == 0) enforced_.insert(*aimed_);
    if (!was_covered_ && options_.knowledge->covered().contains(*aimed_)) ++reached_;
  }

  SteeringReport report() const override {
    SteeringReport report;
    std::uint64_t missed = 0, given_up = 0;
    for (const auto& [instance, tries] : tries_) {
      if (options_.knowledge->covered().contains(instance)) continue;
      ++missed;
      given_up += tries >= kTries ? 1 : 0;
    }
    report.finished = finished_;
    report.lines.push_back(
        fmt::format("aimed at {} pattern instances: {} covered first when aimed at, {} not reached "
                    "({} given up after {} tries)",
                    tries_.size(), reached_, missed, given_up, kTries));
    return report;
  }

  bool stops_at_saturation() const override { return finished_; }

 private:
  /// The most urgent one that was tried least often: of the uncovered ones, then of those that were never
  /// enforced.
  const Target* next_target() {
    if (version_ != options_.knowledge->predictor_version()) {
      version_ = options_.knowledge->predictor_version();
      targets_ = options_.knowledge->predictor().targets({}, options_.knowledge->impacted());
      std::stable_sort(targets_.begin(), targets_.end(),
                       [&](const Target& a, const Target& b) { return rank(a) < rank(b); });
      at_ = 0;
      round_ = 0;
    }
    for (; round_ < 2 * kTries; ++round_, at_ = 0) {
      const bool uncovered = round_ < kTries;
      for (; at_ < targets_.size(); ++at_) {
        const Target& target = targets_[at_];
        if (uncovered ? options_.knowledge->covered().contains(target.instance)
                      : is_enforced(target.instance))
          continue;
        const auto tried = tries_.find(target.instance);
        if ((tried == tries_.end() ? 0 : tried->second) > round_ % kTries) continue;
        finished_ = false;
        return &targets_[at_++];
      }
    }
    finished_ = true;
    return nullptr;
  }

  /// An order of two accesses has nothing in between that could be kept out.
  bool is_enforced(const PatternInstance& instance) const {
    return schedule::class_of(instance.pattern) == schedule::PatternClass::Order ||
           enforced_.contains(instance);
  }

  /// The impacted ones first. Of these first the plain orders of two accesses: they are few, and what is made
  /// of orders that nobody has seen yet may well be impossible.
  std::pair<int, int> rank(const Target& target) const {
    const auto orders = schedule::orders_in(target.instance);
    const auto unseen = std::ranges::count_if(
        orders, [&](const PatternInstance& order) { return !options_.knowledge->covered().contains(order); });
    return {target.impacted ? 0 : 1, orders.empty() ? 0 : 1 + static_cast<int>(unseen)};
  }

  SteeringOptions options_;
  std::vector<Target> targets_;
  std::map<PatternInstance, unsigned> tries_;
  std::set<PatternInstance> enforced_;
  std::optional<PatternInstance> aimed_;
  bool was_covered_ = false;
  std::size_t at_ = 0;
  unsigned round_ = 0;
  std::uint64_t version_ = 0, number_ = 0, reached_ = 0;
  bool finished_ = false;
};

}  // namespace

SteeringResult steer_patterns(const SteeringOptions& options) {
  return std::make_unique<PatternDirected>(options);
}

}  // namespace simrt::pipeline
