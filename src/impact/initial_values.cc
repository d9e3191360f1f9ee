#include "impact/initial_values.h"

#include <algorithm>
#include <map>
#include <vector>

namespace simrt::impact {
namespace {

using Values = std::map<VariableId, std::uint32_t>;

/// Where an initialiser runs through the local that one element defines and the next one uses, the latter
/// gives another value too, although it did not change.
std::vector<bool> altered_values(const ProgramIndex& after, const ChangedFunction& changed) {
  const Range elements = after.elements_of(changed.new_function);
  std::vector<bool> altered(elements.size());
  std::vector<bool> other(after.function(changed.new_function).locals.size());
  for (bool grown = true; grown;) {
    grown = false;
    for (std::uint32_t i = 0; i < elements.size(); ++i) {
      const Element& element = after.element(elements.begin + i);
      const bool uses = std::any_of(element.uses.begin(), element.uses.end(),
                                    [&](std::uint32_t local) { return other[local]; });
      if (altered[i] || (changed.status[i] == ElementStatus::Same && !uses)) continue;
      altered[i] = grown = true;
      for (std::uint32_t local : element.defines) other[local] = true;
    }
  }
  return altered;
}

void add_initialised(const ProgramIndex& after, const ChangedFunction& changed, Values& values) {
  const FunctionFacts& function = after.function(changed.new_function);
  const Range elements = after.elements_of(changed.new_function);
  const std::vector<bool> altered = altered_values(after, changed);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
    if (!altered[element - elements.begin]) continue;
    const Range events = after.events_of_element(element);
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      const auto* access = std::get_if<Access>(&after.event(event).what);
      const auto* flow = std::get_if<Binding>(&after.event(event).what);
      if (!flow && !(access && access->mode == AccessMode::Write)) continue;
      const Place& place = flow ? flow->target : access->place;
      if (function.has(kConstructor) && place.instance != "this") continue;
      values.try_emplace(place.base, element);
    }
  }
}

/// `std::latch done(1)` to `done(2)`, `sem_init(&s, 0, 1)` to `sem_init(&s, 0, 2)`: the object stays the
/// same.
void add_set_up(const ProgramIndex& after, const ChangedFunction& changed,
                const std::function<bool(VariableId)>& wanted, Values& values) {
  const Range elements = after.elements_of(changed.new_function);
  const std::vector<bool> altered = altered_values(after, changed);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
    if (!altered[element - elements.begin]) continue;
    const Range events = after.events_of_element(element);
    for (std::uint32_t event = events.begin; event < events.end; ++event)
      if (const auto* flow = std::get_if<Binding>(&after.event(event).what);
          flow && wanted(flow->target.base))
        values.try_emplace(flow->target.base, element);
  }
}

}  // namespace

Values changed_set_up(const ChangeContext& context, const std::function<bool(VariableId)>& wanted) {
  Values values;
  for (const ChangedFunction* changed : context.changed())
    add_set_up(context.after, *changed, wanted, values);
  values.erase(VariableId{});
  return values;
}

Values changed_initial_values(const ChangeContext& context) {
  Values values;
  for (const ChangedFunction* changed : context.changed()) {
    const FunctionFacts& function = context.after.function(changed->new_function);
    if (function.has(kStaticInit) || function.has(kConstructor))
      add_initialised(context.after, *changed, values);
  }
  values.erase(VariableId{});
  return values;
}

}  // namespace simrt::impact
