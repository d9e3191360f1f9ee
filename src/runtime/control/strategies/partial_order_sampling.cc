// Partial order sampling: Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018, algorithm 2.
// Every pending operation has a random priority; the highest goes on; operations that conflict with it draw
// anew, so that each order of conflicting operations is equally likely.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxThreads = 1024;

class PartialOrderSampling final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    for (auto& priority : priorities_) priority = 0;
  }

  uint32_t choose(const Decision& decision) override {
    uint32_t best = kNobody;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (decision.yields && i == decision.running && decision.count > 1) continue;
      if (best == kNobody || priority(decision, i) > priority(decision, best)) best = i;
    }
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (i == best || conflict(decision.candidates[i].operation, decision.candidates[best].operation))
        priority(decision, i) = 0;
    }
    return best;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  uint64_t& priority(const Decision& decision, uint32_t position) {
    uint64_t& value = priorities_[decision.candidates[position].thread % kMaxThreads];
    if (value == 0) value = random_.next() | 1;
    return value;
  }

  Random random_;
  uint64_t priorities_[kMaxThreads] = {};  // of the thread's pending operation; 0 = to be drawn
};

constinit PartialOrderSampling strategy;

}  // namespace

Strategy* partial_order_sampling() { return &strategy; }

}  // namespace simrt::rt::control
