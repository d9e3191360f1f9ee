// Active testing of pairs: Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008,
// algorithm 1. A thread about to make one access of a pair is held until another one is about to make the
// other access at the same address; then both orders are possible at once, and the plan says which one is
// taken. Who goes on among the threads that are not held is another strategy's choice (Settings::walk): the
// two accesses may only come close to each other where a thread lags far behind, which a random walk hardly
// ever brings about in a long execution.
#include "control/hold.h"
#include "control/strategies/list.h"
#include "simrt/format/run.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxCandidates = 1024;

class PairDirected final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    hold_.begin(settings.hold);
    random_walk_ =
        settings.walk == format::StrategyKind::Random || settings.walk == format::StrategyKind::Pair;
    walk_ = random_walk_ ? nullptr : find_strategy(settings.walk);
    if (walk_ != nullptr) walk_->begin(settings);
    pairs_ = settings.pairs;
    pair_count_ = settings.pair_count;
    then_ = kNobody;
    met_ = false;
  }

  uint32_t choose(const Decision& decision) override {
    const uint32_t chosen = pick(decision);
    hold_.passed(decision.candidates[chosen]);
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override {
    if (random_walk_) return static_cast<uint32_t>(random_.below(count));
    return walk_ != nullptr ? walk_->choose_waiter(count) : 0;
  }

  // Still set is the other half of a meeting in the last choice.
  uint32_t met_with() const override { return then_; }

  uint32_t flags() const override {
    return (met_ ? format::kRunPairMet : 0u) | (hold_.given_up() ? format::kRunHoldGivenUp : 0u);
  }

 private:
  uint32_t pick(const Decision& decision) {
    if (then_ != kNobody) {  // the other half of a pair that met
      const uint32_t thread = then_;
      then_ = kNobody;
      for (uint32_t i = 0; i < decision.count; ++i)
        if (decision.candidates[i].thread == thread) return i;
    }
    bool any_target = false;
    for (uint32_t i = 0; i < decision.count; ++i) {
      targets_[i] = is_target(decision.candidates[i]);
      any_target |= targets_[i];
    }
    if (any_target) {
      const uint32_t met = find_meeting(decision);
      if (met != kNobody) return met;
    }
    for (uint32_t i = 0; i < decision.count; ++i)
      open_[i] = !targets_[i] || !hold_.keep(decision.candidates[i], decision.number);
    const uint32_t chosen = among_open(decision);
    if (chosen != kNobody) return chosen;
    for (uint32_t i = 0; i < decision.count; ++i) open_[i] = true;  // all are held: one must go
    return choose_open(decision, open_, random_);
  }

  // What the walk does when the others could not go on.
  uint32_t among_open(const Decision& decision) {
    if (random_walk_) return choose_open(decision, open_, random_);
    Decision rest = decision;
    rest.count = 0;
    rest.running = kNobody;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (!open_[i]) continue;
      if (i == decision.running) rest.running = rest.count;
      position_[rest.count] = i;
      rest_[rest.count++] = decision.candidates[i];
    }
    if (rest.count == 0) return kNobody;
    rest.candidates = rest_;
    return position_[walk_ != nullptr ? walk_->choose(rest) : rest.by_default()];
  }

  bool is_target(const Candidate& candidate) const {
    if (!is_memory(candidate.operation.kind)) return false;
    for (uint32_t p = 0; p < pair_count_; ++p) {
      if (candidate.operation.pc == pairs_[p].first || candidate.operation.pc == pairs_[p].second)
        return true;
    }
    return false;
  }

  uint32_t find_meeting(const Decision& decision) {
    for (uint32_t p = 0; p < pair_count_; ++p) {
      for (uint32_t i = 0; i < decision.count; ++i) {
        if (!targets_[i] || decision.candidates[i].operation.pc != pairs_[p].first) continue;
        for (uint32_t j = 0; j < decision.count; ++j) {
          if (i == j || !targets_[j] || decision.candidates[j].operation.pc != pairs_[p].second) continue;
          if (!conflict(decision.candidates[i].operation, decision.candidates[j].operation)) continue;
          met_ = true;
          const bool forward = pairs_[p].first_then_second;
          then_ = decision.candidates[forward ? j : i].thread;
          return forward ? i : j;
        }
      }
    }
    return kNobody;
  }

  Random random_;
  Hold hold_;
  const SitePair* pairs_ = nullptr;
  uint32_t pair_count_ = 0;
  uint32_t then_ = kNobody;
  bool met_ = false;
  bool random_walk_ = true;
  Strategy* walk_ = nullptr;
  Candidate rest_[kMaxCandidates];
  uint32_t position_[kMaxCandidates] = {};
  bool targets_[kMaxCandidates] = {}, open_[kMaxCandidates] = {};
};

constinit PairDirected strategy;

}  // namespace

Strategy* pair_directed() { return &strategy; }

}  // namespace simrt::rt::control
