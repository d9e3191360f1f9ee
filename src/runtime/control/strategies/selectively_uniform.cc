// Selectively uniform random walk: Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency
// Testing", ASPLOS 2025. Uniform over the interleavings of the interesting operations: the next one is given
// to a thread drawn in proportion to the number of interesting operations that each still has (PlanWeights,
// from earlier executions); whatever else is pending goes on freely. Interesting: plain and atomic accesses,
// as far as the plan makes them points.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxThreads = 1024;

class SelectivelyUniform final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    for (uint32_t i = 0; i < kMaxThreads; ++i)
      left_[i] = i < settings.weight_count && settings.weights[i] > 0 ? settings.weights[i] : 1;
    intended_ = kNobody;
  }

  uint32_t choose(const Decision& decision) override {
    if (!waits_for(decision, intended_)) intended_ = draw(decision);
    uint32_t free = 0;
    for (uint32_t i = 0; i < decision.count; ++i) free += may_go(decision, i) ? 1 : 0;
    uint32_t chosen = static_cast<uint32_t>(random_.below(free == 0 ? decision.count : free));
    for (uint32_t i = 0; free != 0 && i < decision.count; ++i) {
      if (may_go(decision, i) && chosen-- == 0) {
        chosen = i;
        break;
      }
    }
    const Candidate& next = decision.candidates[chosen];
    if (is_memory(next.operation.kind)) {
      uint64_t& left = left_[next.thread % kMaxThreads];
      if (left > 1) --left;
      if (next.thread == intended_) intended_ = kNobody;
    }
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  bool may_go(const Decision& decision, uint32_t i) const {
    if (decision.yields && i == decision.running && decision.count > 1) return false;
    const Candidate& candidate = decision.candidates[i];
    return !is_memory(candidate.operation.kind) || candidate.thread == intended_;
  }
  // The thread can go on and does not only spin.
  static bool waits_for(const Decision& decision, uint32_t thread) {
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (decision.candidates[i].thread == thread) return !(decision.yields && i == decision.running);
    }
    return false;
  }
  uint32_t draw(const Decision& decision) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < decision.count; ++i) sum += weight(decision, i);
    if (sum == 0) return kNobody;
    uint64_t at = random_.below(sum);
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (at < weight(decision, i)) return decision.candidates[i].thread;
      at -= weight(decision, i);
    }
    return kNobody;
  }
  uint64_t weight(const Decision& decision, uint32_t i) const {
    if (decision.yields && i == decision.running && decision.count > 1) return 0;
    return left_[decision.candidates[i].thread % kMaxThreads];
  }

  Random random_;
  uint64_t left_[kMaxThreads] = {};
  uint32_t intended_ = kNobody;
};

constinit SelectivelyUniform strategy;

}  // namespace

Strategy* selectively_uniform() { return &strategy; }

}  // namespace simrt::rt::control
