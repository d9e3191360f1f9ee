#include "schedule/variable_profile.h"

#include <algorithm>
#include <map>

#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {
namespace {

using Variable = VariableProfile::Variable;

bool is_lock(EventKind kind) { return kind >= EventKind::Lock && kind <= EventKind::TryFailed; }

void count(Variable& variable, const ExecutionEvent& event, std::size_t threads) {
  variable.accesses.resize(threads);
  ++variable.accesses[event.thread];
  ++variable.total;
}

std::size_t sharing(const Variable& variable) {
  return variable.accesses.size() -
         static_cast<std::size_t>(std::count(variable.accesses.begin(), variable.accesses.end(), 0));
}

std::vector<Variable> shared_memory(const Execution& execution) {
  const SharedVariables shared(execution);
  std::vector<Variable> variables(shared.count());
  for (VariableNumber number = 0; number < shared.count(); ++number)
    variables[number].address = shared.address_of(number);
  for (std::size_t i = 0; i < execution.events.size(); ++i)
    for (const VariableNumber number : shared.touched_by(i))
      count(variables[number], execution.events[i], execution.threads.size());
  return variables;
}

std::vector<Variable> shared_locks(const Execution& execution) {
  std::map<std::uint64_t, Variable> locks;
  for (const ExecutionEvent& event : execution.events)
    if (is_lock(event.kind)) count(locks[event.object], event, execution.threads.size());
  std::vector<Variable> variables;
  for (auto& [address, lock] : locks) {
    lock.address = address;
    if (sharing(lock) > 1) variables.push_back(std::move(lock));
  }
  return variables;
}

}  // namespace

void VariableProfile::learn(const Execution& execution) {
  if (execution.threads.size() <= threads_ || execution.outcome.end != ExecutionEnd::Passed) return;
  std::vector<Variable> variables = shared_memory(execution);
  if (variables.empty()) variables = shared_locks(execution);
  if (variables.empty()) return;
  threads_ = execution.threads.size();
  // As the authors' scripts: memory through which two threads hand something to each other is left out when
  // other memory is everybody's.
  const auto few = [&](const Variable& variable) { return sharing(variable) < threads_ / 2; };
  if (!std::all_of(variables.begin(), variables.end(), few)) std::erase_if(variables, few);
  total_ = 0;
  for (Variable& variable : variables) {
    total_ += variable.total;
    for (std::size_t t = threads_; t-- > 1;) {  // children have higher numbers than those who create them
      const ThreadIndex parent = execution.threads[t].parent;
      if (parent < t) variable.accesses[parent] += variable.accesses[t];
    }
  }
  variables_ = std::move(variables);
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
