// Which pattern instances an execution contains, in one pass over its events.
//
// Matching is subsequence matching (MAP, algorithm 1): the steps of an instance need not be adjacent. Nothing
// is kept per pair of steps or of variables. Kept are
//   - per variable and (thread, site, mode): the first and the last access;
//   - per two threads and two sites that conflicted ("edge"): when it first ended, when it last started, and
//   its
//     latest spans, each for two variables, so that "on another variable" can be asked.
// Patterns 9 to 17 are two edges in opposite directions on two variables, one behind the other (9, 12, 14),
// crossing (10, 13, 15) or one inside the other (11, 16, 17): a question of comparing these few times.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>

#include "model/execution.h"
#include "schedule/patterns/pattern.h"
#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {

struct RecogniserLimits {
  /// Most instances that are kept; beyond them `cut()` is true.
  std::size_t instances = 4'000'000;
  /// An edge whose comparison with the opposite edges has found nothing so many times in a row is compared
  /// less often from then on (every 16th time, later every 256th). Exact up to there; it is what keeps a loop
  /// with hundreds of sites near linear.
  std::uint32_t patience = 1024;
};

/// Takes an execution step by step. Not thread-safe.
class PatternRecogniser {
 public:
  explicit PatternRecogniser(RecogniserLimits limits = {});
  ~PatternRecogniser();
  PatternRecogniser(const PatternRecogniser&) = delete;
  PatternRecogniser& operator=(const PatternRecogniser&) = delete;

  /// The next step of the execution. A step that reads and writes is one step with both modes.
  void step(ThreadIndex thread, SiteId site, bool reads, bool writes,
            std::span<const VariableNumber> variables);

  /// Hints, for speed: a step on this variable comes about 16 steps from now; about 8 steps from now.
  void expect(VariableNumber variable) const;
  void expect_now(VariableNumber variable) const;

  const std::unordered_set<PatternInstance>& found() const;
  /// True when the limit of instances was reached, or more than 2^32 steps were taken: some are missing.
  bool cut() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct Recognised {
  std::unordered_set<PatternInstance> instances;
  bool cut = false;
};

Recognised recognise(const Execution& execution, RecogniserLimits limits = {});

}  // namespace simrt::schedule
