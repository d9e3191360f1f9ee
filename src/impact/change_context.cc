#include "impact/change_context.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace simrt::impact {

namespace {

std::vector<VariableId> without_locals(const std::vector<VariableId>& variables, const Program& program) {
  std::vector<VariableId> result;
  for (VariableId id : variables) {
    const VariableFacts* facts = program.variable(id);
    if (!facts) continue;
    switch (facts->kind) {
      case VariableKind::Local:
      case VariableKind::Parameter:
      case VariableKind::Return:
      case VariableKind::Receiver:
        break;
      default:
        result.push_back(id);
    }
  }
  return result;
}

}  // namespace

std::string class_of(std::string_view name) {
  const auto opening = [&](std::size_t closing, char open, char close) {  // npos: none
    int depth = 0;
    for (std::size_t i = closing + 1; i-- > 0;) {
      if (name[i] == close) ++depth;
      if (name[i] == open && --depth == 0) return i;
    }
    return std::string_view::npos;
  };
  if (name.ends_with(')'))  // parameters; a name may begin with "(anonymous namespace)"
    name = name.substr(0, std::min(opening(name.size() - 1, '(', ')'), name.size()));
  if (name.ends_with('>') && name.find("operator") == std::string_view::npos)
    name = name.substr(0, std::min(opening(name.size() - 1, '<', '>'), name.size()));
  const std::size_t at = name.rfind("::");
  return std::string(at == std::string_view::npos ? std::string_view() : name.substr(0, at));
}

ChangeContext::ChangeContext(const Program& before_program, const Program& after_program,
                             const ProgramDiff& program_diff, const ImpactOptions& impact_options)
    : options(impact_options),
      diff(program_diff),
      before(before_program),
      after(after_program),
      calls_before(before),
      calls_after(after),
      matching(before, after, diff),
      locks_before(before, calls_before, lock_names),
      locks_after(after, calls_after, lock_names),
      changed_variables(without_locals(diff.variables, after_program)),
      shared_before(before, changed_variables),
      shared_after(after, changed_variables) {
  find_changed();
  find_added();
}

void ChangeContext::find_changed() {
  for (const ChangedFunction& changed : matching.changed()) {
    // Facts that differ without a listed change follow from a changed variable, which has a rule of its own.
    if (matching.status(changed.new_function) != FunctionStatus::Changed) continue;
    if (!is_test_code(after.function(changed.new_function))) changed_.push_back(&changed);
  }
}

/// New code that runs although no call to it is known: start-up initialisers, and methods that code outside
/// the program calls through a base class, once some object of the class exists.
bool ChangeContext::runs_without_known_caller(std::uint32_t function) const {
  const FunctionFacts& facts = after.function(function);
  if (is_test_code(facts)) return false;
  if (facts.has(kStaticInit)) return true;
  const bool overrides_unknown = std::any_of(facts.overrides.begin(), facts.overrides.end(),
                                             [&](FunctionId base) { return after.find(base) == kNone; });
  if (!overrides_unknown) return false;
  const std::string owner = class_of(facts);
  bool constructor_known = false;
  for (std::uint32_t f = 0; f < after.function_count(); ++f) {
    const FunctionFacts& other = after.function(f);
    if (!other.has(kConstructor) || class_of(other) != owner) continue;
    constructor_known = true;
    if (live_added_[f] || matching.status(f) != FunctionStatus::Added) return true;
  }
  return !constructor_known;
}

void ChangeContext::find_added() {
  live_added_.assign(after.function_count(), false);
  std::vector<bool> seen(calls_after.node_count(), false);
  std::vector<std::uint32_t> work;
  const auto reach = [&](std::uint32_t node) {
    if (!seen[node]) seen[node] = true, work.push_back(node);
  };
  const auto spread = [&] {
    while (!work.empty()) {
      const std::uint32_t node = work.back();
      work.pop_back();
      if (calls_after.is_function(node) && matching.status(node) == FunctionStatus::Added)
        live_added_[node] = true;
      for (const CallEdge& edge : calls_after.out(node)) reach(edge.callee);
    }
  };
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t f = 0; f < after.function_count(); ++f) {
    const FunctionStatus status = matching.status(f);
    if (status == FunctionStatus::Added) {
      candidates.push_back(f);
    } else if (status != FunctionStatus::Changed || !is_test_code(after.function(f))) {
      reach(f);
    }
  }
  if (candidates.empty()) return;
  spread();
  for (bool grown = true; grown;) {
    grown = false;
    for (std::uint32_t f : candidates) {
      if (live_added_[f] || !runs_without_known_caller(f)) continue;
      reach(f);
      live_added_[f] = grown = true;
      spread();
    }
  }
  for (std::uint32_t f : candidates)
    if (live_added_[f]) added_.push_back(f);
}

const ControlFlow& ChangeContext::flow_after(std::uint32_t function) const {
  auto& flow = flows_after_[function];
  if (!flow) flow = std::make_unique<ControlFlow>(after, function);
  return *flow;
}

const ControlFlow& ChangeContext::flow_before(std::uint32_t function) const {
  auto& flow = flows_before_[function];
  if (!flow) flow = std::make_unique<ControlFlow>(before, function);
  return *flow;
}

SourcePoint ChangeContext::nearest_in_after(const ChangedFunction& changed, std::uint32_t old_element) const {
  const Range all = before.elements_of(changed.old_function);
  const ElementRef& home = before.where(old_element);
  const Range block = before.elements_of_block(changed.old_function, home.block);
  const auto at = [&](std::uint32_t old) -> const Element* {
    const std::uint32_t partner = changed.new_element[old - all.begin];
    return partner == kNone ? nullptr : &after.element(partner);
  };
  for (std::uint32_t old = old_element; old < block.end; ++old)
    if (const Element* partner = at(old); partner && partner->at.line) return partner->at;
  for (std::uint32_t old = old_element; old-- > block.begin;)
    if (const Element* partner = at(old); partner && partner->at.line) return partner->at;
  const std::uint32_t ordinal = before.function(changed.old_function).blocks[home.block].ordinal;
  for (const BlockDiff& mapped : changed.diff->blocks) {
    if (mapped.old_ordinal != ordinal) continue;
    const std::uint32_t position = after.block_position(changed.new_function, mapped.ordinal);
    if (position == kNone) continue;
    const Range elements = after.elements_of_block(changed.new_function, position);
    if (elements.size() && after.element(elements.begin).at.line) return after.element(elements.begin).at;
  }
  return {after.function(changed.new_function).begin_line, 1};
}

std::uint32_t ChangeContext::nearest_before(const ChangedFunction& changed, std::uint32_t old_element) const {
  const Range all = before.elements_of(changed.old_function);
  const Range block = before.elements_of_block(changed.old_function, before.where(old_element).block);
  for (std::uint32_t old = old_element + 1; old-- > block.begin;)
    if (const std::uint32_t partner = changed.new_element[old - all.begin]; partner != kNone) return partner;
  return kNone;
}

bool ChangeContext::alteration_is_in_events(const ChangedFunction& changed, std::uint32_t new_element) const {
  const Range fresh = after.events_of_element(new_element);
  const std::uint32_t old_element =
      changed.old_element[new_element - after.elements_of(changed.new_function).begin];
  if (old_element == kNone) return false;
  const std::uint32_t new_base = after.events_of(changed.new_function).begin;
  const std::uint32_t old_base = before.events_of(changed.old_function).begin;
  for (std::uint32_t event = fresh.begin; event < fresh.end; ++event)
    if (changed.old_event[event - new_base] == kNone &&
        !std::holds_alternative<Access>(after.event(event).what))
      return true;
  const Range old = before.events_of_element(old_element);
  for (std::uint32_t event = old.begin; event < old.end; ++event)
    if (changed.new_event[event - old_base] == kNone &&
        !std::holds_alternative<Access>(before.event(event).what))
      return true;
  return false;
}

}  // namespace simrt::impact
