// Back to a state that was seldom reached, and on from there by partial order sampling: for bugs that need
// more context switches at the right places than come together by chance (schedule/state_archive).
//
// Accesses to memory that is not shared are no points: there are many, and a thread that makes them, as one
// that creates others does, would fall behind. Which they are is settled after a few executions, for a way to
// a state belongs to its set of points.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "pipeline/steer/steering.h"
#include "schedule/state_archive.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

constexpr std::uint64_t kFreshEvery = 5;  // of so many executions one begins at the start
constexpr std::uint64_t kStale = 200;     // executions in a row without a new state, then coverage decides
constexpr std::uint64_t kSettled = 16;    // executions after which it is known what is shared
constexpr std::uint64_t kLookAgain = 64;  // executions after which it is asked whether it still holds

class States final : public Steering {
 public:
  explicit States(const SteeringOptions& options) : options_(options) {}

  std::optional<Proposal> next() override {
    settle();
    Proposal proposal;
    proposal.all_points = true;
    proposal.plan.strategy = format::StrategyKind::Pos;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    known_ = 0;
    if (!private_) return proposal;
    proposal.plan.watched = *private_;
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
    if (!private_) return;
    const bool diverged = seen.result.execution.diverged_at != 0;
    diverged_ += diverged ? 1 : 0;
    add(execution, diverged ? 0 : known_);
  }

  void watch(const Execution& execution, const Learned& learned) override {
    if (!private_ || !learned.every_access) return;
    if (const auto without = without_private(execution)) add(*without, 0);
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
  /// What was taken for private may turn out to be shared: then from the beginning.
  void settle() {
    const std::uint64_t executions = options_.knowledge->executions();
    if (executions < kSettled || (private_ && executions < look_again_)) return;
    look_again_ = executions + kLookAgain;
    auto hooks = options_.knowledge->private_hooks(*options_.sites);
    if (private_ && std::ranges::includes(hooks, *private_)) return;
    private_ = std::move(hooks);
    is_private_.clear();
    archive_ = {};
  }

  void add(const Execution& execution, std::size_t known) {
    const auto states = schedule::states_of(execution);
    stale_ = archive_.add(choices_of(execution), states, known) > 0 ? 0 : stale_ + 1;
  }

  /// The execution as if accesses to private memory had been no points. Nothing when that cannot be told.
  std::optional<Execution> without_private(const Execution& execution) {
    Execution without = execution;
    without.decisions.clear();
    for (const ExecutionDecision& decision : execution.decisions) {
      const auto hidden = is_private(execution.events[decision.event]);
      if (!hidden) return std::nullopt;
      if (!*hidden) without.decisions.push_back(decision);
    }
    return without;
  }

  std::optional<bool> is_private(const ExecutionEvent& event) {
    if (event.kind != EventKind::Read && event.kind != EventKind::Write) return false;
    const auto [at, fresh] = is_private_.try_emplace({event.site, event.kind});
    if (!fresh) return at->second;
    const auto& hooks = options_.sites->hooks_of(event.site, event.kind);
    const auto hidden = std::ranges::count_if(
        hooks, [&](const Hook& hook) { return std::ranges::binary_search(*private_, hook.site); });
    if (hidden == 0) at->second = false;
    if (hidden > 0 && hidden == std::ssize(hooks)) at->second = true;
    return at->second;
  }

  SteeringOptions options_;
  schedule::StateArchive archive_;
  std::optional<std::vector<testing::CheckSite>> private_;  // sorted; none before it is settled
  std::map<std::pair<SiteId, EventKind>, std::optional<bool>> is_private_;
  std::size_t known_ = 0;  // choices of the proposal that lead to a known state
  std::uint64_t number_ = 0, look_again_ = 0, diverged_ = 0, stale_ = 0;
};

}  // namespace

SteeringResult steer_states(const SteeringOptions& options) { return std::make_unique<States>(options); }

}  // namespace simrt::pipeline
