// The next thread by index, at every point at which one can go on.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

class RoundRobin final : public Strategy {
 public:
  void begin(const Settings&) override { last_ = kNobody; }

  uint32_t choose(const Decision& decision) override {
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (last_ == kNobody || decision.candidates[i].thread > last_) {
        chosen = i;
        break;
      }
    }
    last_ = decision.candidates[chosen].thread;
    return chosen;
  }

 private:
  uint32_t last_ = kNobody;
};

constinit RoundRobin strategy;

}  // namespace

Strategy* round_robin() { return &strategy; }

}  // namespace simrt::rt::control
