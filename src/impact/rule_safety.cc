// Rule 4: the change takes away what made a variable safe (std::atomic or _Atomic to plain, thread_local,
// const or volatile dropped, a guarded type) or gives it another type. All its uses are impacted, also in
// functions that did not change. A lock that became another kind of lock impacts what it protects.
#include <unordered_map>

#include "impact/rules.h"

namespace simrt::impact {
namespace {

std::string describe(const VariableFacts& before, const VariableFacts& after) {
  const std::uint16_t lost = before.traits & static_cast<std::uint16_t>(~after.traits);
  if (lost & kAtomic) return after.name + " is no longer atomic";
  if (lost & kThreadLocal) return after.name + " is no longer thread_local";
  if (lost & kConst) return after.name + " is no longer const";
  if (lost & kVolatile) return after.name + " is no longer volatile";
  if (before.type != after.type)
    return "type of " + after.name + " changed (was " + before.type + ", now " + after.type + ")";
  return "declaration of " + after.name + " changed";
}

void mark_protected_by(const ChangeContext& context, Marks& marks, VariableId mutex, std::uint32_t cause) {
  for (std::uint32_t f = 0; f < context.after.function_count(); ++f) {
    if (!context.locks_after.relevant(f)) continue;
    const Range events = context.after.events_of(f);
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      for (const Held& held : context.lock_names.set(context.locks_after.at(event))) {
        if (context.lock_names.variable(held.lock) != mutex) continue;
        marks.event(event, cause);
        if (std::holds_alternative<Call>(context.after.event(event).what)) marks.callees(event, cause);
      }
    }
  }
}

}  // namespace

void rule_safety(const ChangeContext& context, Marks& marks) {
  std::unordered_map<VariableId, std::uint32_t> causes;
  for (VariableId id : context.changed_variables) {
    const VariableFacts* before = context.before.program().variable(id);
    const VariableFacts* after = context.after.program().variable(id);
    if (!before || !after) continue;
    const std::uint32_t cause =
        marks.add({ImpactRule::SafetyDropped, describe(*before, *after), after->file, after->at});
    causes[id] = cause;
    if (((before->traits | after->traits) & kMutex) != 0) mark_protected_by(context, marks, id, cause);
  }
  if (causes.empty()) return;
  for (std::uint32_t event = 0; event < context.after.event_count(); ++event) {
    const Access* access = std::get_if<Access>(&context.after.event(event).what);
    if (!access) continue;
    if (const auto cause = causes.find(access->place.base); cause != causes.end())
      marks.event(event, cause->second);
  }
}

}  // namespace simrt::impact
