// Selectively uniform random walk: Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency
// Testing", ASPLOS 2025. Uniform over the interleavings of the interesting operations: the next one is given
// to a thread drawn in proportion to the number of interesting operations that each still has (PlanWeights,
// from earlier executions), a thread that is still to be created counting with the one that creates it.
// Interesting: what is done to the memory or the lock of the plan's only step, so that each execution is
// uniform for another one; without a step, all accesses to memory.
// The rest is as in the authors' program (its configuration "rp-urw"): every pending operation has a random
// priority and the highest goes on, unless it is interesting and another thread's turn. That turn is drawn
// when the first interesting operation comes up, and stays with a thread that waits for a lock or has other
// things to do until all who could go on stand before interesting operations.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxThreads = 1024;

class SelectivelyUniform final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    for (uint32_t i = 0; i < kMaxThreads; ++i) {
      left_[i] = i < settings.weight_count && settings.weights[i] > 0 ? settings.weights[i] : 0;
      priorities_[i] = 0;
    }
    intended_ = kNobody;
    selected_ = settings.step_count == 1 ? settings.steps[0].address : 0;
  }

  uint32_t choose(const Decision& decision) override {
    uint32_t chosen = highest(decision);
    if (chosen == kNobody || (intended_ == kNobody && is_interesting(decision.candidates[chosen]))) {
      intended_ = draw(decision);
      chosen = highest(decision);
    }
    const Candidate& next = decision.candidates[chosen];
    priorities_[next.thread % kMaxThreads] = 0;
    if (next.operation.kind == EventKind::Create) hand_on(next.thread, next.operation.object);
    if (is_interesting(next)) {
      uint64_t& left = left_[next.thread % kMaxThreads];
      if (left > 0) --left;
      intended_ = kNobody;
    }
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  bool is_interesting(const Candidate& candidate) const {
    const Operation& operation = candidate.operation;
    if (is_memory(operation.kind)) {
      return selected_ == 0 ||
             (operation.object <= selected_ && selected_ < operation.object + operation.size);
    }
    return selected_ != 0 && is_lock(operation.kind) && operation.object == selected_;
  }
  /// Of the threads that may go on; kNobody when all of them wait for the turn of another one.
  uint32_t highest(const Decision& decision) {
    uint32_t best = kNobody;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (only_spins(decision, i)) continue;
      const Candidate& candidate = decision.candidates[i];
      if (intended_ != kNobody && candidate.thread != intended_ && is_interesting(candidate)) continue;
      if (best == kNobody || priority(decision, i) > priority(decision, best)) best = i;
    }
    return best;
  }
  uint64_t& priority(const Decision& decision, uint32_t position) {
    uint64_t& value = priorities_[decision.candidates[position].thread % kMaxThreads];
    if (value == 0) value = random_.next() | 1;
    return value;
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
  static bool only_spins(const Decision& decision, uint32_t i) {
    return decision.yields && i == decision.running && decision.count > 1;
  }
  /// The thread whose interesting operation is the next one.
  uint32_t draw(const Decision& decision) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < decision.count; ++i) sum += weight(decision, i);
    uint64_t at = sum == 0 ? 0 : random_.below(sum);
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (at < weight(decision, i)) return decision.candidates[i].thread;
      at -= weight(decision, i);
    }
    return kNobody;
  }
  uint64_t weight(const Decision& decision, uint32_t i) const {
    if (only_spins(decision, i)) return 0;
    const uint64_t left = left_[decision.candidates[i].thread % kMaxThreads];
    // More of them than were expected: one more is always possible.
    return left > 0 || (selected_ != 0 && !is_interesting(decision.candidates[i])) ? left : 1;
  }

  Random random_;
  uint64_t left_[kMaxThreads] = {};
  uint64_t priorities_[kMaxThreads] = {};  // of the thread's pending operation; 0 = to be drawn
  uintptr_t selected_ = 0;                 // address; 0 = all accesses are interesting
  uint32_t intended_ = kNobody;
};

constinit SelectivelyUniform strategy;

}  // namespace

Strategy* selectively_uniform() { return &strategy; }

}  // namespace simrt::rt::control
