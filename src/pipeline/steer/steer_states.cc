// Back to a state that was seldom reached, and on from there by partial order sampling: for bugs that need
// more context switches at the right places than come together by chance (schedule/state_archive).
#include <fmt/format.h>

#include "pipeline/steer/steering.h"
#include "schedule/state_archive.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

constexpr std::uint64_t kFreshEvery = 5;  // of so many executions one begins at the start
constexpr std::uint64_t kStale = 200;     // executions in a row without a new state, then coverage decides

class States final : public Steering {
 public:
  explicit States(const SteeringOptions& options) : options_(options) {}

  std::optional<Proposal> next() override {
    Proposal proposal;
    proposal.all_points = true;  // a way belongs to its set of points
    proposal.plan.strategy = format::StrategyKind::Pos;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    known_ = 0;
    if (hash_combine(proposal.plan.seed, 1) % kFreshEvery == 0) return proposal;
    const Choices way = archive_.draw(hash_combine(proposal.plan.seed, 2));
    known_ = way.size();
    for (std::size_t i = 0; i < way.size(); ++i) {
      format::ScheduleItem item = {};
      item.decision = i + 1;
      item.thread = way[i];
      item.choice = format::ChoiceKind::Run;
      item.module = format::kPlanNone;
      proposal.plan.schedule.push_back(item);
    }
    proposal.aim = fmt::format("on from a state behind {} steps", way.size());
    return proposal;
  }

  void learn(const Execution& execution, const Observed& seen, const Learned&) override {
    const bool diverged = seen.result.execution.diverged_at != 0;
    diverged_ += diverged ? 1 : 0;
    add(execution, diverged ? 0 : known_);
  }

  void watch(const Execution& execution, const Learned& learned) override {
    if (learned.every_access) add(execution, 0);
  }

  SteeringReport report() const override {
    SteeringReport report;
    report.lines.push_back(
        fmt::format("{} states reached, gone back to one {} times", archive_.size(), archive_.returns()));
    if (diverged_ > 0)
      report.lines.push_back(fmt::format("{} times the way to a state led elsewhere", diverged_));
    return report;
  }

  bool stops_at_saturation() const override { return stale_ >= kStale; }

 private:
  void add(const Execution& execution, std::size_t known) {
    const auto states = schedule::states_of(execution);
    stale_ = archive_.add(choices_of(execution), states, known) > 0 ? 0 : stale_ + 1;
  }

  SteeringOptions options_;
  schedule::StateArchive archive_;
  std::size_t known_ = 0;  // choices of the proposal that lead to a known state
  std::uint64_t number_ = 0, diverged_ = 0, stale_ = 0;
};

}  // namespace

SteeringResult steer_states(const SteeringOptions& options) { return std::make_unique<States>(options); }

}  // namespace simrt::pipeline
