// Periodical scheduling (PERIOD, Wen et al., ICSE 2022), sampled: few periods first, then more; where the
// threads' work is cut is drawn for each execution. Most bugs need few periods.
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/steer/steering.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

constexpr std::uint32_t kMostPeriods = 5;

class Periods final : public Steering {
 public:
  explicit Periods(const SteeringOptions& options) : options_(options), random_(options.seed) {}

  std::optional<Proposal> next() override {
    Proposal proposal;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    proposal.plan.strategy = format::StrategyKind::Periodical;
    // 1, 2, 2, 3, 3, 3, ... and from the end of that on each number alike.
    const std::uint32_t periods = periods_of(number_);
    for (std::size_t thread = 0; thread < points_.size(); ++thread)
      for (std::uint32_t period = 1; period < periods; ++period) {
        const std::uint64_t behind = below(points_[thread] + 1);
        proposal.plan.cuts.push_back({static_cast<std::uint32_t>(thread), period, behind});
      }
    sort_cuts(proposal.plan.cuts);
    proposal.aim = fmt::format("{} periods", periods);
    return proposal;
  }

  void learn(const Execution& execution, const Observed&, const Learned&) override {
    points_.assign(execution.threads.size(), 0);
    for (const ExecutionDecision& decision : execution.decisions)
      if (decision.chosen < points_.size()) ++points_[decision.chosen];
  }

  SteeringReport report() const override {
    SteeringReport report;
    report.lines.push_back(
        fmt::format("{} executions with up to {} periods; a sample", number_, kMostPeriods));
    return report;
  }

 private:
  static std::uint32_t periods_of(std::uint64_t number) {
    std::uint32_t periods = 1;
    for (std::uint64_t left = number; periods < kMostPeriods && left > periods; ++periods) left -= periods;
    return periods < kMostPeriods ? periods : 2 + static_cast<std::uint32_t>(number % (kMostPeriods - 1));
  }
  std::uint64_t below(std::uint64_t count) {
    random_ = hash_combine(random_, count);
    return random_ % count;
  }
  /// A thread's cuts come in the order of its periods.
  static void sort_cuts(std::vector<format::PlanCut>& cuts) {
    for (auto begin = cuts.begin(); begin != cuts.end();) {
      const auto end =
          std::find_if(begin, cuts.end(), [&](const auto& cut) { return cut.thread != begin->thread; });
      std::vector<std::uint64_t> points;
      for (auto cut = begin; cut != end; ++cut) points.push_back(cut->points);
      std::sort(points.begin(), points.end());
      for (std::size_t i = 0; i < points.size(); ++i, ++begin) begin->points = points[i];
    }
  }

  SteeringOptions options_;
  std::vector<std::uint64_t> points_;  // of each thread, in the execution before
  std::uint64_t random_, number_ = 0;
};

}  // namespace

SteeringResult steer_periods(const SteeringOptions& options) { return std::make_unique<Periods>(options); }

}  // namespace simrt::pipeline
