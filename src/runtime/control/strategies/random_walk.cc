// Uniform among the threads that can go on, at every point.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

class RandomWalk final : public Strategy {
 public:
  void begin(const Settings& settings) override { random_.seed(settings.seed); }

  uint32_t choose(const Decision& decision) override {
    if (decision.count == 1) return 0;
    if (!decision.yields || decision.running == kNobody) {
      return static_cast<uint32_t>(random_.below(decision.count));
    }
    const auto other = static_cast<uint32_t>(random_.below(decision.count - 1));
    return other < decision.running ? other : other + 1;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  Random random_;
};

constinit RandomWalk strategy;

}  // namespace

Strategy* random_walk() { return &strategy; }

}  // namespace simrt::rt::control
