// Rule 4: the change takes away what made a variable safe (std::atomic or _Atomic to plain, thread_local,
// const or volatile dropped, a guarded type) or gives it another type. All its uses are impacted, also in
// functions that did not change. A lock that became another kind of lock impacts what it protects. Code that
// is as before, but whose local others can reach now (captured by reference instead of copied, its address
// given away): the accesses that this makes of it.
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

/// Accesses of an unchanged statement that it did not have before.
void mark_newly_shared(const ChangeContext& context, Marks& marks) {
  const ProgramIndex& after = context.after;
  for (const ChangedFunction& changed : context.matching.changed()) {
    const FunctionFacts& function = after.function(changed.new_function);
    if (context.is_test_code(function)) continue;
    const Range elements = after.elements_of(changed.new_function);
    const std::uint32_t base = after.events_of(changed.new_function).begin;
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      if (changed.status[element - elements.begin] != ElementStatus::Same) continue;
      const Range events = after.events_of_element(element);
      for (std::uint32_t event = events.begin; event < events.end; ++event) {
        const Access* access = std::get_if<Access>(&after.event(event).what);
        if (!access || changed.old_event[event - base] != kNone) continue;
        marks.event(event, marks.add({ImpactRule::SafetyDropped,
                                      after.program().name_of(access->place.base) +
                                          " can be reached by others now, or is another object",
                                      function.file, after.event(event).at}));
      }
    }
  }
}

}  // namespace

void rule_safety(const ChangeContext& context, Marks& marks) {
  mark_newly_shared(context, marks);
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
