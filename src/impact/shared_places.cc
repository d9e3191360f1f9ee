#include "impact/shared_places.h"

#include <algorithm>

namespace simrt::impact {
namespace {

/// Variables private to one run of the function: locals and parameters that do not escape, `this`, the
/// result.
void add_private(const ProgramIndex& index, std::uint32_t function, std::vector<VariableId>& ids) {
  const FunctionFacts& facts = index.function(function);
  for (FunctionId id : index.identities(function)) {
    for (std::uint32_t k = 0; k < facts.locals.size(); ++k) {
      if (facts.locals[k].static_storage || facts.locals[k].escapes) continue;
      ids.push_back(local_of(id, k));
      if (facts.locals[k].parameter) ids.push_back(parameter_of(id, k));
    }
    ids.push_back(receiver_of(id));
    ids.push_back(return_of(id));
  }
}

}  // namespace

SharedPlaces::SharedPlaces(const ProgramIndex& index, const std::vector<VariableId>& changed_variables)
    : index_(index), shared_(index.event_count(), false) {
  const std::unordered_set<VariableId> changed(changed_variables.begin(), changed_variables.end());
  for (std::uint32_t f = 0; f < index.function_count(); ++f) classify(f, changed);
}

void SharedPlaces::classify(std::uint32_t function, const std::unordered_set<VariableId>& changed_variables) {
  const Range events = index_.events_of(function);
  if (events.size() == 0) return;
  std::vector<VariableId> own;
  std::uint32_t scope = function;
  for (int depth = 0; scope != kNone && depth < 8; ++depth) {  // a lambda sees its parents' locals
    add_private(index_, scope, own);
    const FunctionFacts& facts = index_.function(scope);
    scope = facts.parent ? index_.find(facts.parent) : kNone;
  }
  std::sort(own.begin(), own.end());
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Access* access = std::get_if<Access>(&index_.event(event).what);
    if (!access || !access->place.base) continue;
    if (changed_variables.contains(access->place.base)) {
      shared_[event] = true;
      continue;
    }
    if ((access->tags & (kTagThreadLocal | kTagConstObject)) != 0) continue;
    const VariableFacts* variable = index_.program().variable(access->place.base);
    const bool mutex = access->place.derefs == 0 && variable && (variable->traits & kMutex) != 0;
    const bool own_local =
        access->place.derefs == 0 && std::binary_search(own.begin(), own.end(), access->place.base);
    shared_[event] = !mutex && !own_local;
  }
}

bool SharedPlaces::any_in(std::uint32_t element) const {
  const Range events = index_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    if (shared_[event]) return true;
  return false;
}

}  // namespace simrt::impact
