// Directed delays: one thread is stopped before a step that conflicts with a step of another thread, which
// goes first; each such step in turn, the promising ones first. The other thread goes on to its end, or,
// another time, only until it has made its step; when all delays were tried in both ways, several are drawn
// for one execution. The periods of PERIOD (Wen et al., ICSE 2022) carry it out.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "pipeline/steer/steering.h"
#include "schedule/delays.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using schedule::Delay;

constexpr std::size_t kMostDelays = 10'000;
constexpr unsigned kRounds = 2;          // of single delays
constexpr std::size_t kFirst = 2;        // delays that are tried in both ways before any other
constexpr std::uint64_t kMostDrawn = 5;  // delays of one execution, then

class Delays final : public Steering {
 public:
  explicit Delays(const SteeringOptions& options) : options_(options), random_(options.seed) {}

  std::optional<Proposal> next() override {
    Proposal proposal;
    proposal.plan.seed = hash_combine(options_.seed, ++number_);
    proposal.all_points = true;  // own points are counted
    if (delays_.empty()) {
      proposal.plan.strategy = number_ == 1 ? format::StrategyKind::Surw : format::StrategyKind::Pos;
      return proposal;
    }
    proposal.plan.strategy = format::StrategyKind::Periodical;
    Tried& one = next_one();
    if (one.tries >= kRounds) {
      draw(proposal.plan);
    } else {
      const auto index = static_cast<std::size_t>(&one - delays_.data());
      cut(proposal.plan, one.delay, (index + one.tries) % 2 == 1);
      ++one.tries;
    }
    proposal.aim = fmt::format("delay before {:016x}", one.delay.site.value);
    return proposal;
  }

  void learn(const Execution& execution, const Observed&, const Learned& learned) override {
    watch(execution, learned);
  }

  void watch(const Execution& execution, const Learned& learned) override {
    if (!learned.every_access || (!delays_.empty() && learned.new_instances == 0)) return;
    note_creations(execution);
    for (const Delay& delay : schedule::delays_of(execution)) {
      if (delays_.size() >= kMostDelays) break;
      if (known_.insert({delay.thread, delay.other, delay.site, delay.kind, delay.occurrence}).second)
        delays_.push_back({delay, 0});
    }
  }

  SteeringReport report() const override {
    SteeringReport report;
    report.lines.push_back(
        fmt::format("{} delays before steps that conflict, {} tried", delays_.size(),
                    std::ranges::count_if(delays_, [](const Tried& each) { return each.tries > 0; })));
    return report;
  }

  bool has_untried() const override {
    return std::ranges::any_of(delays_, [](const Tried& each) { return each.tries == 0; });
  }

 private:
  struct Tried {
    Delay delay;
    unsigned tries = 0;
  };

  /// The one that was tried least, by tiers.
  Tried& next_one() {
    const auto worth = [&](const Tried& each) {
      const bool first = static_cast<std::size_t>(&each - delays_.data()) < kFirst && each.tries < kRounds;
      return std::tuple(first ? 0 : each.tries, first ? 0 : 1, each.tries, each.delay.tier());
    };
    return *std::ranges::min_element(delays_, {}, worth);
  }

  /// Of an execution in which all threads came to be.
  void note_creations(const Execution& execution) {
    if (execution.threads.size() < created_.size()) return;
    std::vector<std::uint64_t> points(execution.threads.size(), 0);
    created_.assign(execution.threads.size(), 0);
    auto decision = execution.decisions.begin();
    for (std::size_t i = 0; i < execution.events.size(); ++i) {
      const ExecutionEvent& event = execution.events[i];
      if (decision != execution.decisions.end() && decision->event == i) {
        ++points[event.thread];
        ++decision;
      }
      if (event.kind == EventKind::Create) created_[event.thread] = points[event.thread];
    }
  }

  /// First everybody who creates threads and the delayed one, up to the delay; then the other one; then
  /// everybody else; then the delayed one again. `until_step`: the delayed one goes on as soon as the other
  /// one has made its step.
  void cut(testing::CheckPlan& plan, const Delay& delay, bool until_step) const {
    const std::uint32_t everybody = until_step ? 4 : 2, delayed = until_step ? 2 : 3;
    for (ThreadIndex thread = 0; thread < created_.size(); ++thread) {
      if (thread == delay.thread) {
        plan.cuts.push_back({thread, delayed, delay.points});
      } else if (thread == delay.other) {
        plan.cuts.push_back({thread, 1, std::min(created_[thread], delay.until)});
        if (until_step) plan.cuts.push_back({thread, 3, delay.until});
      } else {
        plan.cuts.push_back({thread, everybody, created_[thread]});
      }
    }
  }

  /// Several delays: whoever was delayed goes on behind those that were not.
  void draw(testing::CheckPlan& plan) {
    const std::uint64_t count = 2 + below(kMostDrawn - 1);
    std::set<std::pair<ThreadIndex, std::uint64_t>> places;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Delay& delay = delays_[below(delays_.size())].delay;
      places.insert({delay.thread, delay.points});
    }
    std::vector<std::uint32_t> periods;
    for (std::uint32_t i = 0; i < places.size(); ++i) periods.push_back(i + 1);
    for (std::size_t i = periods.size(); i > 1; --i) std::swap(periods[i - 1], periods[below(i)]);
    auto period = periods.begin();
    for (const auto& [thread, points] : places) plan.cuts.push_back({thread, *period++, points});
    for (auto begin = plan.cuts.begin(); begin != plan.cuts.end();) {  // ascending within a thread
      const auto end = std::find_if(
          begin, plan.cuts.end(), [&](const format::PlanCut& each) { return each.thread != begin->thread; });
      std::vector<std::uint32_t> own;
      for (auto at = begin; at != end; ++at) own.push_back(at->period);
      std::ranges::sort(own);
      for (const std::uint32_t each : own) (begin++)->period = each;
    }
  }

  std::uint64_t below(std::uint64_t count) {
    random_ = hash_combine(random_, count);
    return random_ % count;
  }

  SteeringOptions options_;
  std::vector<Tried> delays_;
  std::set<std::tuple<ThreadIndex, ThreadIndex, SiteId, EventKind, std::uint32_t>> known_;
  std::vector<std::uint64_t> created_;  // own points behind which a thread has created its last one
  std::uint64_t random_, number_ = 0;
};

}  // namespace

SteeringResult steer_delays(const SteeringOptions& options) { return std::make_unique<Delays>(options); }

}  // namespace simrt::pipeline
