// Selectively uniform random walk: Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency
// Testing", ASPLOS 2025. Uniform over the interleavings of the interesting operations: the next one is given
// to a thread drawn in proportion to the number of interesting operations that each still has (PlanWeights,
// from earlier executions), a thread that is still to be created counting with the one that creates it.
// Whatever else is pending goes on freely, the running thread first. Interesting: accesses to the memory of
// the plan's only step, so that each execution is uniform for another variable; without one, all accesses.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxThreads = 1024;

class SelectivelyUniform final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    for (uint32_t i = 0; i < kMaxThreads; ++i)
      left_[i] = i < settings.weight_count && settings.weights[i] > 0 ? settings.weights[i] : 0;
    intended_ = kNobody;
    selected_ = settings.step_count == 1 ? settings.steps[0].address : 0;
  }

  uint32_t choose(const Decision& decision) override {
    if (!waits_for(decision, intended_)) intended_ = draw(decision);
    const uint32_t chosen = pick(decision);
    const Candidate& next = decision.candidates[chosen];
    if (next.operation.kind == EventKind::Create) hand_on(next.thread, next.operation.object);
    if (is_interesting(next)) {
      uint64_t& left = left_[next.thread % kMaxThreads];
      if (left > 0) --left;
      if (next.thread == intended_) intended_ = kNobody;
    }
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  bool is_interesting(const Candidate& candidate) const {
    const Operation& operation = candidate.operation;
    return is_memory(operation.kind) && (selected_ == 0 || (operation.object <= selected_ &&
                                                            selected_ < operation.object + operation.size));
  }
  uint32_t pick(const Decision& decision) {
    if (selected_ != 0 && decision.running != kNobody && may_go(decision, decision.running))
      return decision.running;
    uint32_t free = 0;
    for (uint32_t i = 0; i < decision.count; ++i) free += may_go(decision, i) ? 1 : 0;
    uint32_t chosen = static_cast<uint32_t>(random_.below(free == 0 ? decision.count : free));
    for (uint32_t i = 0; free != 0 && i < decision.count; ++i) {
      if (may_go(decision, i) && chosen-- == 0) return i;
    }
    return chosen;
  }
  bool may_go(const Decision& decision, uint32_t i) const {
    if (decision.yields && i == decision.running && decision.count > 1) return false;
    const Candidate& candidate = decision.candidates[i];
    return !is_interesting(candidate) || candidate.thread == intended_;
  }
  // The creator's share included that of its child, which is the child's own now.
  void hand_on(uint32_t creator, uint64_t created) {
    if (created >= kMaxThreads) return;
    const uint64_t child = left_[created];
    uint64_t& parent = left_[creator % kMaxThreads];
    if (intended_ == creator && parent > 0 && random_.below(parent) < child)
      intended_ = static_cast<uint32_t>(created);
    parent -= child < parent ? child : parent;
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
    const uint64_t left = left_[decision.candidates[i].thread % kMaxThreads];
    // More of them than were expected: one more is always possible.
    return left > 0 || (selected_ != 0 && !is_interesting(decision.candidates[i])) ? left : 1;
  }

  Random random_;
  uint64_t left_[kMaxThreads] = {};
  uintptr_t selected_ = 0;  // address; 0 = all are interesting
  uint32_t intended_ = kNobody;
};

constinit SelectivelyUniform strategy;

}  // namespace

Strategy* selectively_uniform() { return &strategy; }

}  // namespace simrt::rt::control
