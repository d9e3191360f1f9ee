#include "impact/publication.h"

#include <algorithm>
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

bool Publication::leaks_itself(std::uint32_t function, std::vector<std::uint32_t>& on_this) const {
  std::vector<VariableId> selves;
  for (FunctionId name : index_.identities(function)) selves.push_back(receiver_of(name));
  const auto own = [&](const Value& value) { return is_own(selves, value); };
  const Range events = index_.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto& what = index_.event(event).what;
    if (const auto* binding = std::get_if<Binding>(&what); binding && own(binding->value)) return true;
    const auto* call = std::get_if<Call>(&what);
    if (!call) continue;
    if (call->kind == CallKind::Spawn || call->kind == CallKind::Callback) return true;
    if (std::any_of(call->arguments.begin(), call->arguments.end(), own)) return true;
    if (!call->receiver || !own(*call->receiver)) continue;
    const auto edges = calls_.edges_of(event, function);
    if (edges.empty() && !is_standard(call->name)) return true;
    for (const CallEdge& edge : edges) {
      if (!calls_.is_function(edge.callee)) return true;  // through a pointer: anything may be called
      on_this.push_back(edge.callee);
    }
  }
  return false;
}

bool Publication::leaks_this(std::uint32_t function) const {
  if (const auto known = known_.find(function); known != known_.end()) return known->second;
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> work{function};
  bool leaks = false;
  while (!leaks && !work.empty()) {
    const std::uint32_t current = work.back();
    work.pop_back();
    leaks = seen.insert(current).second && leaks_itself(current, work);
  }
  known_.emplace(function, leaks);
  return leaks;
}

}  // namespace simrt::impact
