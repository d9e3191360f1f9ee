// Rule 2: the change adds or alters a call: all accesses in the callee and in what it calls. An altered
// element that still makes the same call with the same receiver and arguments adds none, unless nothing else
// explains the alteration
// (`f(1)` to `f(2)`). Calls in new functions, functions newly handed on, new thread entries and new
// overriders are calls too; where an overrider is gone, calls through the base reach the base's method again.
// Where the change constructs an object of another class, virtual calls reach the methods of that class.
#include <algorithm>

#include "impact/constructed_classes.h"
#include "impact/rules.h"

namespace simrt::impact {
namespace {

std::string describe(const ChangeContext& context, const Call& call, bool added) {
  std::string name = call.name;
  if (name.empty()) name = call.callee ? context.after.program().name_of(call.callee) : "a function pointer";
  switch (call.kind) {
    case CallKind::Spawn:
      return name + " now runs on a thread of its own";
    case CallKind::Callback:
      return name + " now handed on as a callback";
    default:
      return "call of " + name + (added ? " added" : " altered");
  }
}

bool in_its_old_block(const ChangeContext& context, std::uint32_t element, std::uint32_t old_element) {
  const ElementRef& now = context.after.where(element);
  const ElementRef& then = context.before.where(old_element);
  const auto mapped = context.matching.old_block(now.function, now.block);
  return mapped && mapped->ordinal == context.before.function(then.function).blocks[then.block].ordinal;
}

}  // namespace

std::vector<std::uint32_t> rule_call(const ChangeContext& context, Marks& marks) {
  const ProgramIndex& after = context.after;
  std::vector<std::uint32_t> calls;
  ConstructedClasses classes(context);
  const auto changed_call = [&](std::uint32_t event, bool added) {
    const Call* call = std::get_if<Call>(&after.event(event).what);
    if (!call) return;
    calls.push_back(event);
    const FunctionFacts& caller = after.function(after.function_of_event(event));
    marks.callees(event, marks.add({ImpactRule::CallChanged, describe(context, *call, added), caller.file,
                                    after.event(event).at}));
    for (std::uint32_t method : classes.newly_dispatched(event)) {
      marks.closure({method}, marks.add({ImpactRule::CallChanged,
                                         "virtual calls reach " + after.function(method).name +
                                             ": an object of its class is made here",
                                         caller.file, after.event(event).at}));
      for (const CallEdge& edge : context.calls_after.in(method))
        if (edge.event != kNone && edge.kind != CallKind::Direct) calls.push_back(edge.event);
    }
  };
  for (std::uint32_t function : context.added()) {
    const Range events = after.events_of(function);
    for (std::uint32_t event = events.begin; event < events.end; ++event) changed_call(event, true);
  }
  for (const ChangedFunction* changed : context.changed()) {
    const Range elements = after.elements_of(changed->new_function);
    const std::uint32_t base = after.events_of(changed->new_function).begin;
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      const ElementStatus status = changed->status[element - elements.begin];
      if (status == ElementStatus::Same) continue;
      const bool explained =
          status == ElementStatus::Altered && context.alteration_is_in_events(*changed, element);
      const Range events = after.events_of_element(element);
      if (const std::uint32_t source = changed->moved_from[element - elements.begin]; source != kNone) {
        // Nothing new is called (what the move changes, later rules tell), but perhaps under another
        // condition.
        if (!in_its_old_block(context, element, source))
          for (std::uint32_t event = events.begin; event < events.end; ++event)
            if (std::holds_alternative<Call>(after.event(event).what)) calls.push_back(event);
        continue;
      }
      for (std::uint32_t event = events.begin; event < events.end; ++event)
        if (!explained || changed->old_event[event - base] == kNone)
          changed_call(event, status == ElementStatus::Added);
    }
  }
  for (const FunctionDiff& gone : context.diff.functions) {
    if (gone.status != FunctionStatus::Removed) continue;
    const FunctionFacts* old = context.before.program().function(gone.old_id ? gone.old_id : gone.id);
    if (!old || context.is_test_code(*old)) continue;
    for (FunctionId overridden : old->overrides) {
      const auto methods = after.variants(context.matching.renamed(overridden));
      for (std::uint32_t method : methods) {
        marks.closure({method}, marks.add({ImpactRule::CallChanged,
                                           "overrider " + old->name + " removed",
                                           after.function(method).file,
                                           {after.function(method).begin_line, 1}}));
        for (const CallEdge& edge : context.calls_after.in(method))
          if (edge.kind == CallKind::Virtual && edge.event != kNone) calls.push_back(edge.event);
      }
    }
  }
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

}  // namespace simrt::impact
