// The reversible races of one execution, under happens-before of its dependent steps.
#pragma once

#include <cstdint>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

/// A step (event `first`) and a later dependent one of another thread that could have come before it.
struct ReversibleRace {
  std::size_t first = 0;   ///< index into Execution::events
  std::size_t second = 0;  ///< as well; events.size() + i stands for Execution::pending[i]
  /// No other step lies between them in happens-before (Abdulla et al., definition 3.3), but such as are not
  /// surely_coenabled() with the second: the race may be with what came before those.
  bool immediate = false;
};

class RaceAnalysis {
 public:
  explicit RaceAnalysis(const Execution& execution);

  /// By second, then from the latest first to the earliest.
  const std::vector<ReversibleRace>& races() const { return races_; }
  /// Events and pending operations.
  std::size_t steps() const { return steps_.size(); }
  /// The event or pending operation with this index.
  const ExecutionEvent& step(std::size_t index) const { return steps_[index]; }
  bool happens_before(std::size_t earlier, std::size_t later) const;

  /// The threads that can make the first step of a run in which `second` comes before `first`: the initials
  /// of notdep(first) . second.
  ThreadSet initials(const ReversibleRace& race) const;

 private:
  using Clock = std::vector<std::uint32_t>;  ///< steps of each thread that happened before or are it
  void analyse(const Execution& execution);

  std::size_t real_ = 0;  ///< steps that happened
  std::vector<ExecutionEvent> steps_;
  std::vector<std::uint32_t> position_;  ///< of a step in its thread, from 1
  std::vector<Clock> clocks_;
  std::vector<ReversibleRace> races_;
};

}  // namespace simrt::schedule
