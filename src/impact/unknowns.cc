#include "impact/unknowns.h"

#include <algorithm>
#include <string>

namespace simrt::impact {
namespace {

void mark_whole(const ChangeContext& context, Marks& marks, std::uint32_t function, std::uint32_t cause) {
  marks.function(function, cause);
  const Range events = context.after.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    if (std::holds_alternative<Call>(context.after.event(event).what)) marks.callees(event, cause);
}

void unanalysed_bodies(const ChangeContext& context, Marks& marks, std::vector<Unknown>& unknowns) {
  std::vector<std::uint32_t> functions = context.added();
  for (const ChangedFunction* changed : context.changed()) functions.push_back(changed->new_function);
  std::sort(functions.begin(), functions.end());
  for (std::uint32_t f : functions) {
    const FunctionFacts& facts = context.after.function(f);
    if (!facts.has(kBroken) && !facts.has(kNoCfg)) continue;
    const std::string what =
        facts.name + (facts.has(kBroken) ? " does not parse" : " has no control-flow graph");
    mark_whole(context, marks, f, marks.add({ImpactRule::Unknown, what, facts.file, {facts.begin_line, 1}}));
    if (facts.has(kBroken)) unknowns.push_back({what, facts.file, facts.id});
  }
}

/// A pattern changed, but this instantiation stands in a unit that was not parsed again: it is as unknown as
/// new code.
void stale_instantiations(const ChangeContext& context, Marks& marks) {
  for (std::uint32_t f = 0; f < context.after.function_count(); ++f) {
    const FunctionFacts& facts = context.after.function(f);
    if (!facts.pattern || facts.pattern == facts.id ||
        context.matching.status(f) != FunctionStatus::Unchanged)
      continue;
    for (std::uint32_t pattern : context.after.variants(facts.pattern)) {
      if (context.matching.status(pattern) != FunctionStatus::Changed) continue;
      mark_whole(context, marks, f,
                 marks.add({ImpactRule::Unknown,
                            "template " + context.after.function(pattern).name + " changed",
                            context.after.function(pattern).file,
                            {context.after.function(pattern).begin_line, 1}}));
    }
  }
}

void unresolved_calls(const ChangeContext& context, std::vector<Unknown>& unknowns) {
  const auto check = [&](std::uint32_t event) {
    const Call* call = std::get_if<Call>(&context.after.event(event).what);
    if (!call || call->callee) return;
    const std::uint32_t caller = context.after.function_of_event(event);
    const FunctionFacts& facts = context.after.function(caller);
    if (facts.has(kDependent)) return;
    for (const CallEdge& edge : context.calls_after.edges_of(event, caller))
      if (context.calls_after.is_function(edge.callee) || !context.calls_after.out(edge.callee).empty())
        return;
    unknowns.push_back({"call through " + (call->name.empty() ? std::string("a pointer") : call->name) +
                            " in " + facts.name + " has no known target",
                        facts.file, facts.id});
  };
  for (std::uint32_t f : context.added()) {
    const Range events = context.after.events_of(f);
    for (std::uint32_t event = events.begin; event < events.end; ++event) check(event);
  }
  for (const ChangedFunction* changed : context.changed()) {
    const Range elements = context.after.elements_of(changed->new_function);
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      if (changed->status[element - elements.begin] == ElementStatus::Same) continue;
      const Range events = context.after.events_of_element(element);
      for (std::uint32_t event = events.begin; event < events.end; ++event)
        if (changed->old_event[event - context.after.events_of(changed->new_function).begin] == kNone)
          check(event);
    }
  }
}

}  // namespace

std::vector<Unknown> unknown_units(const Program& before, const Program& after) {
  std::vector<Unknown> unknowns;
  for (const UnitSummary& unit : after.units) {
    if (unit.errors == 0) continue;
    const auto old = std::find_if(before.units.begin(), before.units.end(),
                                  [&](const UnitSummary& known) { return known.path == unit.path; });
    if (old != before.units.end() && old->errors == unit.errors && old->command == unit.command &&
        old->files == unit.files)
      continue;
    unknowns.push_back(
        {unit.path + " does not parse (" + std::to_string(unit.errors) + " errors)", unit.path, {}});
  }
  return unknowns;
}

std::vector<Unknown> unknown_code(const ChangeContext& context, Marks& marks) {
  std::vector<Unknown> unknowns;
  unanalysed_bodies(context, marks, unknowns);
  stale_instantiations(context, marks);
  unresolved_calls(context, unknowns);
  return unknowns;
}

}  // namespace simrt::impact
