#include "schedule/variable_profile.h"

#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {

void VariableProfile::learn(const Execution& execution) {
  if (execution.threads.size() <= threads_ || execution.outcome.end != ExecutionEnd::Passed) return;
  const SharedVariables shared(execution);
  if (shared.count() == 0) return;
  threads_ = execution.threads.size();
  total_ = 0;
  variables_.assign(shared.count(), Variable{});
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    for (const VariableNumber number : shared.touched_by(i)) {
      Variable& variable = variables_[number];
      if (variable.total++ == 0) variable.address = event.object;
      variable.accesses.resize(threads_);
      ++variable.accesses[event.thread];
      ++total_;
    }
  }
  for (Variable& variable : variables_)
    for (std::size_t t = threads_; t-- > 1;) {  // children have higher numbers than those who create them
      const ThreadIndex parent = execution.threads[t].parent;
      if (parent < t) variable.accesses[parent] += variable.accesses[t];
    }
}

const VariableProfile::Variable* VariableProfile::draw(std::uint64_t random) const {
  if (total_ == 0) return nullptr;
  std::uint64_t at = random % total_;
  for (const Variable& variable : variables_) {
    if (at < variable.total) return &variable;
    at -= variable.total;
  }
  return nullptr;
}

}  // namespace simrt::schedule
