// Periodical scheduling: Wen, He, Wu, Ding, Li, Zhao, "Controlled Concurrency Testing via Periodical
// Scheduling" (PERIOD), ICSE 2022. The execution is cut into periods; the plan says behind how many of its
// own points a thread enters which period (PlanCuts). Whoever is in the earliest period goes on; within a
// period one thread after the other, in an order drawn from the seed.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxThreads = 1024;

class Periodical final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    cuts_ = settings.cuts;
    cut_count_ = settings.cut_count;
    for (uint32_t i = 0; i < kMaxThreads; ++i) {
      made_[i] = 0;
      period_[i] = 0;
      order_[i] = 0;
    }
    enter();
  }

  uint32_t choose(const Decision& decision) override {
    uint32_t best = kNobody;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (decision.yields && i == decision.running && decision.count > 1) continue;
      if (best == kNobody || comes_before(decision, i, best)) best = i;
    }
    const uint32_t thread = decision.candidates[best].thread % kMaxThreads;
    ++made_[thread];
    move_on(thread);
    return best;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  void enter() {
    for (uint32_t c = 0; c < cut_count_; ++c)
      if (cuts_[c].points == 0) raise(cuts_[c].thread % kMaxThreads, cuts_[c].period);
  }
  void move_on(uint32_t thread) {
    for (uint32_t c = 0; c < cut_count_; ++c)
      if (cuts_[c].thread % kMaxThreads == thread && cuts_[c].points == made_[thread])
        raise(thread, cuts_[c].period);
  }
  void raise(uint32_t thread, uint32_t period) {
    if (period <= period_[thread]) return;
    period_[thread] = period;
    order_[thread] = 0;  // another place in each period
  }

  bool comes_before(const Decision& decision, uint32_t a, uint32_t b) {
    const uint32_t one = decision.candidates[a].thread % kMaxThreads;
    const uint32_t other = decision.candidates[b].thread % kMaxThreads;
    if (period_[one] != period_[other]) return period_[one] < period_[other];
    return place(one) > place(other);
  }
  uint64_t place(uint32_t thread) {
    if (order_[thread] == 0) order_[thread] = random_.next() | 1;
    return order_[thread];
  }

  Random random_;
  const format::PlanCut* cuts_ = nullptr;
  uint32_t cut_count_ = 0;
  uint64_t made_[kMaxThreads] = {};    // points
  uint32_t period_[kMaxThreads] = {};  // the thread is in
  uint64_t order_[kMaxThreads] = {};   // the highest goes first; 0 = to be drawn
};

constinit Periodical strategy;

}  // namespace

Strategy* periodical() { return &strategy; }

}  // namespace simrt::rt::control
