// Who goes on at a scheduling point. A strategy sees what the threads are about to do and nothing of the
// engine. A new one is one file in strategies/ and one line in strategies/list.cc.
#pragma once

#include <stdint.h>

#include "control/operation.h"
#include "control/random.h"
#include "simrt/format/plan.h"

namespace simrt::rt::control {

inline constexpr uint32_t kNobody = UINT32_MAX;

/// A thread that could go on, and its next operation.
struct Candidate {
  uint32_t thread = 0;
  Operation operation;
};

struct Decision {
  uint64_t number = 0;                    // of the scheduling point, from 1
  const Candidate* candidates = nullptr;  // ascending by thread
  uint32_t count = 0;                     // at least 1
  uint32_t running = kNobody;             // position of the thread that made the last step, if it could go on
  bool yields = false;                    // it asks to let others go first (yield, spin loop, long run)

  /// What happens without a strategy.
  uint32_t by_default() const {
    if (running == kNobody) return 0;
    if (!yields || count == 1) return running;
    return running == 0 ? 1 : 0;
  }
};

/// What the plan says, with sites as run-time addresses.
struct SitePair {
  uintptr_t first = 0, second = 0;
  bool first_then_second = true;
  uint64_t first_calls = 0, second_calls = 0;
};
struct Step {
  uintptr_t pc = 0;
  uint32_t role = 0, variable = 0, thread = format::kPlanNone;
  EventKind kind = EventKind::Read;
  uintptr_t address = 0;  // 0 = any
  uint64_t calls = 0;
};
/// Whether the operation is made there. `calls` 0 = whatever led to it.
inline bool stands_at(const Operation& operation, uintptr_t pc, uint64_t calls) {
  return operation.pc == pc && (calls == 0 || operation.calls == calls);
}
struct Settings {
  format::StrategyKind walk = format::StrategyKind::Random;
  uint64_t seed = 0, length = 0, hold = 0;
  uint32_t depth = 0;
  const SitePair* pairs = nullptr;
  uint32_t pair_count = 0;
  const Step* steps = nullptr;
  uint32_t step_count = 0;
  const uint64_t* weights = nullptr;
  uint32_t weight_count = 0;
  const format::PlanCut* cuts = nullptr;
  uint32_t cut_count = 0;
};

class Strategy {
 public:
  /// Once an execution, before the first decision.
  virtual void begin(const Settings& settings) = 0;
  /// Position among the candidates of the thread that goes on.
  virtual uint32_t choose(const Decision& decision) = 0;
  /// How many points may pass before the next question as long as the same threads can go on; at least 1.
  /// Asked behind choose().
  virtual uint64_t patience() const { return 1; }
  /// Which of `count` waiters, in the order in which they came, a notification wakes.
  virtual uint32_t choose_waiter(uint32_t count) {
    (void)count;
    return 0;
  }
  /// Whether the last choice brought two conflicting accesses together: the other thread, which stands before
  /// the second one. kNobody = no.
  virtual uint32_t met_with() const { return kNobody; }
  /// RunFlag bits for the host.
  virtual uint32_t flags() const { return 0; }
};

/// Null for StrategyKind::Default and unknown numbers.
Strategy* find_strategy(format::StrategyKind kind);

}  // namespace simrt::rt::control
