// Race-directed random testing (Sen, PLDI 2008): two conflicting accesses that no lock and no creation or
// join keeps apart are brought next to each other, once in each order; everything else goes at random.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "pipeline/steer/steering.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using schedule::Target;
using schedule::TargetStep;

class PairDirected final : public Steering {
 public:
  explicit PairDirected(const SteeringOptions& options) : options_(options) {}

  std::optional<Proposal> next() override {
    learn_pairs();
    Proposal proposal;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    aimed_ = nullptr;
    // Every few executions a random walk: it may show accesses that no prediction knows yet.
    if (pairs_.empty() || number_ % kWalkEvery == 1) {
      proposal.plan.strategy = format::StrategyKind::Random;
      return proposal;
    }
    aimed_ = &*std::ranges::min_element(pairs_, {}, [](const Pair& pair) { return pair.tries; });
    const unsigned attempt = aimed_->tries++;
    proposal.plan.strategy = format::StrategyKind::Pair;
    proposal.plan.walk = format::StrategyKind::Random;
    proposal.plan.length = options_.knowledge->points();
    proposal.plan.hold = options_.knowledge->points() + 1000;  // longer than an execution: nobody is coming
    proposal.plan.modules = options_.sites->modules();
    proposal.plan.pairs.push_back(
        {hook_of(aimed_->first, attempt / 2), hook_of(aimed_->second, attempt / 2), attempt % 2 == 0});
    proposal.aim = fmt::format("pair {:016x}, {:016x}", aimed_->first.site.value, aimed_->second.site.value);
    return proposal;
  }

  void learn(const Execution&, const Observed& seen, const Learned&) override {
    if (aimed_ != nullptr && (seen.result.execution.flags & format::kRunPairMet) != 0) aimed_->met = true;
  }

  SteeringReport report() const override {
    SteeringReport report;
    report.lines.push_back(fmt::format("aimed at {} pairs of accesses: {} met", pairs_.size(),
                                       std::ranges::count(pairs_, true, &Pair::met)));
    return report;
  }

 private:
  static constexpr std::uint64_t kWalkEvery = 8;

  struct Pair {
    TargetStep first, second;
    unsigned tries = 0;
    bool met = false;
  };

  static auto key_of(const TargetStep& step) { return std::tuple(step.site, step.kind); }

  /// Of the predicted orders of two accesses, the impacted ones first; two orders of the same accesses are
  /// one.
  void learn_pairs() {
    if (version_ == options_.knowledge->predictor_version()) return;
    version_ = options_.knowledge->predictor_version();
    for (const Target& target : options_.knowledge->predictor().targets({}, options_.knowledge->impacted())) {
      if (schedule::class_of(target.instance.pattern) != schedule::PatternClass::Order) continue;
      Pair pair{target.steps.front(), target.steps.back()};
      if (key_of(pair.second) < key_of(pair.first)) std::swap(pair.first, pair.second);
      const auto same = [&](const Pair& known) {
        return key_of(known.first) == key_of(pair.first) && key_of(known.second) == key_of(pair.second);
      };
      if (has_hooks(pair) && std::ranges::none_of(pairs_, same)) pairs_.push_back(pair);
    }
  }

  bool has_hooks(const Pair& pair) const {
    return !options_.sites->hooks_of(pair.first.site, pair.first.kind).empty() &&
           !options_.sites->hooks_of(pair.second.site, pair.second.kind).empty();
  }

  testing::CheckSite hook_of(const TargetStep& step, unsigned attempt) const {
    const std::vector<Hook>& hooks = options_.sites->hooks_of(step.site, step.kind);
    return hooks[attempt % hooks.size()].site;
  }

  SteeringOptions options_;
  std::vector<Pair> pairs_;
  Pair* aimed_ = nullptr;  // into pairs_; not kept over learn_pairs()
  std::uint64_t version_ = 0, number_ = 0;
};

}  // namespace

SteeringResult steer_pairs(const SteeringOptions& options) { return std::make_unique<PairDirected>(options); }

}  // namespace simrt::pipeline
