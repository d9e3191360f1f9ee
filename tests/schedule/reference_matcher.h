// The definition of the patterns, taken literally: every tuple of steps is looked at.
#pragma once

#include <set>

#include "model/execution.h"
#include "schedule/patterns/pattern.h"
#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {

class ReferenceMatcher {
 public:
  explicit ReferenceMatcher(const Execution& execution) : execution_(execution), shared_(execution) {
    for (PatternNumber pattern = 1; pattern <= kPatternCount; ++pattern) {
      pattern_ = pattern;
      const bool two = class_of(pattern) == PatternClass::TwoVariables;
      const std::uint32_t second = two ? shared_.count() : 1;
      for (VariableNumber x = 0; x < shared_.count(); ++x)
        for (VariableNumber y = 0; y < second; ++y) {
          if (two && x == y) continue;
          variables_[0] = x;
          variables_[1] = y;
          threads_[0] = threads_[1] = kNoThread;
          instance_ = {};
          instance_.pattern = pattern;
          extend(0, 0);
        }
    }
  }
  std::set<PatternInstance> found;

 private:
  bool fits(const ExecutionEvent& event, std::size_t index, const PatternStep& step) const {
    if (step.mode == AccessMode::Read ? !reads_memory(event.kind) : !writes_memory(event.kind)) return false;
    for (const VariableNumber variable : shared_.touched_by(index))
      if (variable == variables_[step.variable]) return true;
    return false;
  }

  void extend(std::size_t step, std::size_t from) {
    const auto steps = steps_of(pattern_);
    if (step == steps.size()) {
      found.insert(instance_);
      return;
    }
    for (std::size_t i = from; i < execution_.events.size(); ++i) {
      const ExecutionEvent& event = execution_.events[i];
      if (!fits(event, i, steps[step])) continue;
      ThreadIndex& mine = threads_[steps[step].thread];
      if (event.thread == threads_[1 - steps[step].thread]) continue;
      if (mine != kNoThread && mine != event.thread) continue;
      const ThreadIndex before = mine;
      mine = event.thread;
      instance_.sites[step] = event.site;
      extend(step + 1, i + 1);
      mine = before;
      instance_.sites[step] = {};
    }
  }

  const Execution& execution_;
  SharedVariables shared_;
  PatternNumber pattern_ = 0;
  VariableNumber variables_[2] = {};
  ThreadIndex threads_[2] = {kNoThread, kNoThread};
  PatternInstance instance_;
};

}  // namespace simrt::schedule
