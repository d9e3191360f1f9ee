// Rule 4: the change takes away what made a variable safe (std::atomic or _Atomic to plain, thread_local,
// const or volatile dropped, a guarded type, memory of its own) or gives it another type. All its uses are
// impacted, also in functions that did not change. A lock that became another kind of lock impacts what it
// protects. Code that is as before, but whose local others can reach now (captured by reference instead of
// copied, its address given away): the accesses that this makes of it.
#include <algorithm>
#include <unordered_map>

#include "impact/captures.h"
#include "impact/lock_regions.h"
#include "impact/order_regions.h"
#include "impact/rules.h"
#include "impact/shared_memory.h"

namespace simrt::impact {
namespace {

/// A field that shares memory with this one, but did not in p.
const VariableFacts* new_neighbour(const ChangeContext& context, const VariableFacts& before,
                                   const VariableFacts& after) {
  for (const VariableFacts& other : context.after.program().variables) {
    if (after.shares == 0 || other.shares != after.shares || other.id == after.id) continue;
    const VariableFacts* then = context.before.program().variable(other.id);
    if (then && (then->shares == 0 || then->shares != before.shares)) return &other;
  }
  return nullptr;
}

std::string describe(const ChangeContext& context, const VariableFacts& before, const VariableFacts& after) {
  const std::uint16_t lost = before.traits & static_cast<std::uint16_t>(~after.traits);
  if (lost & kAtomic) return after.name + " is no longer atomic";
  if (lost & kThreadLocal) return after.name + " is no longer thread_local";
  if (lost & kConst) return after.name + " is no longer const";
  if (lost & kVolatile) return after.name + " is no longer volatile";
  if (before.type != after.type)
    return "type of " + after.name + " changed (was " + before.type + ", now " + after.type + ")";
  if (const VariableFacts* other = new_neighbour(context, before, after))
    return after.name + " now shares its memory with " + other->name;
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

/// What an unchanged lambda makes of another variable than the one that it captured before.
void mark_other_captures(const ChangeContext& context, Marks& marks) {
  const ProgramIndex& after = context.after;
  LockRegions locks(context, marks);
  OrderRegions orders(context, marks);
  for (std::uint32_t event : other_captures(context)) {
    const FunctionFacts& lambda = after.function(after.function_of_event(event));
    const auto cause = [&](VariableId variable) {
      return marks.add({ImpactRule::SafetyDropped,
                        "captured by " + lambda.name + ": " +
                            (variable ? after.program().name_of(variable) + " now" : "another variable"),
                        lambda.file, after.event(event).at});
    };
    const std::uint32_t element = after.element_of(event);
    const auto& what = after.event(event).what;
    if (const auto* access = std::get_if<Access>(&what)) {
      marks.event(event, cause(access->place.base));
    } else if (const auto* order = std::get_if<OrderOp>(&what)) {
      orders.operation(element, order_effects(after.event(event)), cause(order->object.base));
    } else if (const auto* lock = std::get_if<LockOp>(&what)) {
      locks.other_lock(element, cause(lock->locks.empty() ? VariableId{} : lock->locks.front().base));
    } else if (std::holds_alternative<Call>(what)) {
      marks.callees(event, cause({}));
    } else {
      marks.element(element, cause(std::get<Binding>(what).value.place.base));
    }
  }
}

}  // namespace

void rule_safety(const ChangeContext& context, Marks& marks) {
  mark_newly_shared(context, marks);
  mark_other_captures(context, marks);
  std::unordered_map<VariableId, std::uint32_t> causes;
  for (VariableId id : context.changed_variables) {
    const VariableFacts* before = context.before.program().variable(id);
    const VariableFacts* after = context.after.program().variable(id);
    if (!before || !after) continue;
    const std::uint32_t cause =
        marks.add({ImpactRule::SafetyDropped, describe(context, *before, *after), after->file, after->at});
    causes[id] = cause;
    if (((before->traits | after->traits) & kMutex) != 0) mark_protected_by(context, marks, id, cause);
  }
  if (causes.empty()) return;
  // What a class has inside lies where its members lie.
  for (const SharedMemory& memory : shared_memory(context.after.program())) {
    const auto changed = std::find_if(memory.members.begin(), memory.members.end(),
                                      [&](VariableId member) { return causes.contains(member); });
    if (changed == memory.members.end()) continue;
    const std::uint32_t cause = causes.at(*changed);
    for (VariableId inner : memory.inner) causes.try_emplace(inner, cause);
  }
  for (std::uint32_t event = 0; event < context.after.event_count(); ++event) {
    const Access* access = std::get_if<Access>(&context.after.event(event).what);
    if (!access) continue;
    if (const auto cause = causes.find(access->place.base); cause != causes.end())
      marks.event(event, cause->second);
  }
}

}  // namespace simrt::impact
