#include "impact/publication.h"

#include <set>
#include <string>
#include <vector>

namespace simrt::impact {
namespace {

/// Bases and members of the standard library do not register their owner anywhere.
bool is_standard(const std::string& callee) { return callee.rfind("std::", 0) == 0; }

bool is_own(const std::vector<VariableId>& selves, const Value& value) {
  for (VariableId self : selves)
    if (value.place.base == self && value.place.derefs == 0) return true;
  return false;
}

}  // namespace

/// Without the calls on the same object.
bool Publication::leaks_itself(std::uint32_t function) const {
  std::vector<VariableId> selves;
  for (FunctionId name : index_.identities(function)) selves.push_back(receiver_of(name));
  const Range events = index_.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Event& facts = index_.event(event);
    if (const auto* binding = std::get_if<Binding>(&facts.what); binding && is_own(selves, binding->value))
      return true;
    const auto* call = std::get_if<Call>(&facts.what);
    if (!call) continue;
    if (call->kind == CallKind::Spawn || call->kind == CallKind::Callback) return true;
    for (const Value& argument : call->arguments)
      if (is_own(selves, argument)) return true;
    if (call->receiver && is_own(selves, *call->receiver) && calls_.edges_of(event, function).empty() &&
        !is_standard(call->name))
      return true;
  }
  return false;
}

bool Publication::leaks_this(std::uint32_t function) const {
  if (const auto known = known_.find(function); known != known_.end()) return known->second;
  std::set<std::uint32_t> seen{function};
  std::vector<std::uint32_t> work{function};
  bool leaks = false;
  while (!leaks && !work.empty()) {
    const std::uint32_t current = work.back();
    work.pop_back();
    leaks = leaks_itself(current);
    std::vector<VariableId> selves;
    for (FunctionId name : index_.identities(current)) selves.push_back(receiver_of(name));
    const Range events = index_.events_of(current);
    for (std::uint32_t event = events.begin; event < events.end && !leaks; ++event) {
      const auto* call = std::get_if<Call>(&index_.event(event).what);
      if (!call || !call->receiver || !is_own(selves, *call->receiver)) continue;
      for (const CallEdge& edge : calls_.edges_of(event, current)) {
        if (!calls_.is_function(edge.callee)) leaks = true;  // through a pointer: anything may be called
        if (calls_.is_function(edge.callee) && seen.insert(edge.callee).second) work.push_back(edge.callee);
      }
    }
  }
  known_.emplace(function, leaks);
  return leaks;
}

}  // namespace simrt::impact
