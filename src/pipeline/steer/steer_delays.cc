// Directed delays: one thread is stopped before a step that conflicts with a step of another thread, which
// goes first; each such step in turn, the promising ones first. The other thread goes on to its end, or,
// another time, only until it has made its step; in every fourth execution it is stopped between two steps
// that conflict. When all delays were tried in both ways, several are drawn for one execution, in turn with
// what is left of the latter. The periods of PERIOD (Wen et al., ICSE 2022) carry it out.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/steer/steering.h"
#include "schedule/delays.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using schedule::Delay;

constexpr std::size_t kMostDelays = 10'000;
constexpr unsigned kRounds = 2;          // of single delays
constexpr std::size_t kFirst = 2;        // delays that are tried in both ways before any other
constexpr std::uint64_t kBetween = 4;    // every so manieth stops the other thread between two steps
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
    current_ = next_try();
    if (current_->way == Way::Drawn)
      draw(proposal.plan);
    else
      cut(proposal.plan, *current_);
    proposal.aim = fmt::format("delay before {:016x}", delays_[current_->index].delay.site.value);
    return proposal;
  }

  void learn(const Execution& execution, const Observed&, const Learned& learned) override {
    const std::optional<Try> own = std::exchange(current_, std::nullopt);
    add_delays(execution, learned, own && own->way == Way::ToEnd ? own : std::nullopt);
  }

  void watch(const Execution& execution, const Learned& learned) override {
    add_delays(execution, learned, std::nullopt);
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
  /// How far the other thread goes while one is stopped. Drawn: several are stopped.
  enum class Way : std::uint8_t { ToEnd, UntilStep, Between, Drawn };
  struct Try {
    std::size_t index = 0;  ///< of delays_
    Way way = Way::ToEnd;
    std::uint64_t until = 0;  ///< as in Delay; without meaning for ToEnd and Drawn
  };
  struct Tried {
    Delay delay;
    unsigned tries = 0;
    bool to_end = false;      ///< was tried
    std::size_t between = 0;  ///< of delay.between, so many were tried
  };

  Try next_try() {
    const std::size_t least = least_tried();
    const bool singles = delays_[least].tries < kRounds;
    const bool between_two = singles ? !first_left() && ++turn_ % kBetween == 0 : ++turn_ % 2 == 1;
    if (between_two)
      if (const auto index = first_between()) return between(*index);
    return singles ? single(least) : Try{.index = least, .way = Way::Drawn};
  }

  bool first_left() const {
    for (std::size_t i = 0; i < std::min(kFirst, delays_.size()); ++i)
      if (delays_[i].tries < kRounds) return true;
    return false;
  }

  Try single(std::size_t index) {
    Tried& one = delays_[index];
    const Way way = (index + one.tries++) % 2 == 1 ? Way::UntilStep : Way::ToEnd;
    one.to_end |= way == Way::ToEnd;
    return {.index = index, .way = way, .until = one.delay.until};
  }

  Try between(std::size_t index) {
    Tried& one = delays_[index];
    return {.index = index, .way = Way::Between, .until = one.delay.between[one.between++]};
  }

  /// The one that was tried least, by tiers.
  std::size_t least_tried() const {
    const auto worth = [&](const Tried& each) {
      const bool first = static_cast<std::size_t>(&each - delays_.data()) < kFirst && each.tries < kRounds;
      return std::tuple(first ? 0 : each.tries, first ? 0 : 1, each.tries, each.delay.tier());
    };
    return static_cast<std::size_t>(std::ranges::min_element(delays_, {}, worth) - delays_.begin());
  }

  /// The most promising one that the other thread's end has been tried of: that tells its way there.
  std::optional<std::size_t> first_between() const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < delays_.size(); ++i) {
      const Tried& each = delays_[i];
      if (!each.to_end || each.between >= each.delay.between.size()) continue;
      if (!first || each.delay.tier() < delays_[*first].delay.tier()) first = i;
    }
    return first;
  }

  /// `own`: the other thread went to its end in it. Its way there may be another one than in the execution
  /// that the delay is from, and so the places at which it can be stopped.
  void add_delays(const Execution& execution, const Learned& learned, const std::optional<Try>& own) {
    if (!learned.every_access || (!delays_.empty() && learned.new_instances == 0)) return;
    note_creations(execution);
    for (Delay& delay : schedule::delays_of(execution)) {
      if (delays_.size() >= kMostDelays) break;
      const auto [known, added] = known_.try_emplace(
          {delay.thread, delay.other, delay.site, delay.kind, delay.occurrence}, delays_.size());
      if (added) {
        delays_.push_back({std::move(delay)});
      } else if (own && known->second == own->index) {
        delays_[own->index].delay.until = delay.until;
        delays_[own->index].delay.between = std::move(delay.between);
      }
    }
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
  /// everybody else; then the delayed one again, which goes on at once where the other one stops before its
  /// end.
  void cut(testing::CheckPlan& plan, const Try& one) const {
    const Delay& delay = delays_[one.index].delay;
    const bool stops = one.way != Way::ToEnd;
    const std::uint32_t everybody = stops ? 4 : 2, delayed = stops ? 2 : 3;
    for (ThreadIndex thread = 0; thread < created_.size(); ++thread) {
      if (thread == delay.thread) {
        plan.cuts.push_back({thread, delayed, delay.points});
      } else if (thread == delay.other) {
        plan.cuts.push_back({thread, 1, std::min(created_[thread], stops ? one.until : delay.until)});
        if (stops) plan.cuts.push_back({thread, 3, one.until});
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
  std::map<std::tuple<ThreadIndex, ThreadIndex, SiteId, EventKind, std::uint32_t>, std::size_t> known_;
  std::optional<Try> current_;
  std::vector<std::uint64_t> created_;  // own points behind which a thread has created its last one
  std::uint64_t random_, number_ = 0, turn_ = 0;
};

}  // namespace

SteeringResult steer_delays(const SteeringOptions& options) { return std::make_unique<Delays>(options); }

}  // namespace simrt::pipeline
