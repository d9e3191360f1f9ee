// Where the slice starts: elements that changed without touching a shared variable, what was removed,
// branches that lead elsewhere, other initial values.
#include <string_view>

#include "impact/initial_values.h"
#include "impact/slicer.h"

namespace simrt::impact {

bool Slicer::marked_access(std::uint32_t element) const {
  const Range events = after_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    if (!context_.shared_after.contains(event) || marks_.of(event) == kNone) continue;
    // `locks[i]`, `map.find(key)`: which element is meant is all that follows from it.
    const auto& access = std::get<Access>(after_.event(event).what);
    if (access.mode == AccessMode::Write || (access.tags & kTagWholeObject) == 0) return true;
  }
  return false;
}

void Slicer::seed_changed_function(const ChangedFunction& changed) {
  const Range elements = after_.elements_of(changed.new_function);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element)
    if (changed.status[element - elements.begin] != ElementStatus::Same) seed_element(changed, element);
  for (std::uint32_t old : changed.removed) seed_removed(changed, old);
  seed_edges(changed);
}

void Slicer::seed_element(const ChangedFunction& changed, std::uint32_t element) {
  const Range elements = after_.elements_of(changed.new_function);
  const bool added = changed.status[element - elements.begin] == ElementStatus::Added;
  const std::uint32_t why = cause(added ? "depends on an added statement" : "depends on an altered statement",
                                  changed, after_.element(element).at);
  // Where it touches shared variables, rules 1 to 4 have those; only the branch that it decides is followed
  // then.
  if (marked_access(element)) {
    branch(element, why);
    stored(element, why);
  } else {
    outflow(element, why);
  }
  into_closures(element, kNone, why);
  if (added) return;
  seed_constructors(changed, element, why);
  const std::uint32_t old = changed.old_element[element - elements.begin];
  if (context_.flow_before(changed.old_function).is_condition(old))
    seed_old_branch(changed, before_.where(old).block, why);
}

void Slicer::seed_removed(const ChangedFunction& changed, std::uint32_t old_element) {
  if (context_.shared_before.any_in(old_element)) return;
  const std::uint32_t why =
      cause("depends on a removed statement", changed, context_.nearest_in_after(changed, old_element));
  const std::uint32_t near = context_.nearest_before(changed, old_element);
  std::vector<std::uint32_t> starts{near};
  if (near == kNone) {  // first in its block: the value leaves from the blocks that take its place
    starts.clear();
    const std::uint32_t ordinal =
        before_.function(changed.old_function).blocks[before_.where(old_element).block].ordinal;
    for (const BlockDiff& block : changed.diff->blocks) {
      if (block.old_ordinal != ordinal) continue;
      const std::uint32_t position = after_.block_position(changed.new_function, block.ordinal);
      if (position == kNone) continue;
      const Range range = after_.elements_of_block(changed.new_function, position);
      for (std::uint32_t e = range.begin; e < range.end; ++e) {
        for (std::uint32_t old_local : before_.element(old_element).defines)
          if (uses(e, changed.renaming.local(old_local))) work_.push_back({Step::Data, e, 0, kNone, why});
        starts.push_back(e);
        break;
      }
    }
    if (starts.empty()) starts.push_back(kNone);
  }
  for (std::uint32_t old_local : before_.element(old_element).defines) {
    const std::uint32_t local = changed.renaming.local(old_local);
    if (local == kNone) continue;
    for (std::uint32_t start : starts)
      work_.push_back({Step::Value, start, changed.new_function, local, why});
  }
  if (context_.flow_before(changed.old_function).is_condition(old_element))
    seed_old_branch(changed, before_.where(old_element).block, why);
  const Range events = before_.events_of_element(old_element);
  const std::vector<FunctionId> names = before_.identities(changed.old_function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* flow = std::get_if<Binding>(&before_.event(event).what);
    if (!flow) continue;
    for (FunctionId name : names)
      if (flow->target.base == return_of(name)) return into_callers(changed.new_function, why);
  }
}

/// What depended on a branch of the old version and is still there.
void Slicer::seed_old_branch(const ChangedFunction& changed, std::uint32_t old_block, std::uint32_t why) {
  const std::uint32_t first = before_.elements_of(changed.old_function).begin;
  for (std::uint32_t block : context_.flow_before(changed.old_function).controlled_by(old_block)) {
    const Range range = before_.elements_of_block(changed.old_function, block);
    for (std::uint32_t old = range.begin; old < range.end; ++old)
      if (const std::uint32_t partner = changed.new_element[old - first]; partner != kNone)
        work_.push_back({Step::Control, partner, 0, kNone, why});
  }
}

/// Blocks without a branch that go on elsewhere (a dropped break or continue); changed branches are Altered
/// elements.
void Slicer::seed_edges(const ChangedFunction& changed) {
  const ControlFlow& flow = context_.flow_after(changed.new_function);
  std::unordered_map<std::uint32_t, std::uint32_t> old_ordinal;
  for (const BlockDiff& block : changed.diff->blocks) old_ordinal[block.ordinal] = block.old_ordinal;
  for (const BlockDiff& block : changed.diff->blocks) {
    const std::uint32_t position = after_.block_position(changed.new_function, block.ordinal);
    const std::uint32_t old = before_.block_position(changed.old_function, block.old_ordinal);
    if (position == kNone || old == kNone || (block.dangerous && !block.resynced)) continue;
    const auto& now = after_.function(changed.new_function).blocks[position].successors;
    const auto& then = before_.function(changed.old_function).blocks[old].successors;
    if (now.size() != 1 || then.size() != 1) continue;
    const auto target = old_ordinal.find(now[0].target);
    if (target == old_ordinal.end() || target->second == then[0].target) continue;
    const Range elements = after_.elements_of_block(changed.new_function, position);
    const SourcePoint at = elements.size() ? after_.element(elements.end - 1).at
                                           : SourcePoint{after_.function(changed.new_function).begin_line, 1};
    const std::uint32_t why = cause("depends on a changed jump", changed, at);
    for (std::uint32_t next : flow.successors(position))
      affect_block(changed.new_function, next, position, why);
  }
}

/// An object is made with other arguments: what its constructor keeps of them is read later.
void Slicer::seed_constructors(const ChangedFunction& changed, std::uint32_t element, std::uint32_t why) {
  const Range events = after_.events_of_element(element);
  const std::uint32_t base = after_.events_of(changed.new_function).begin;
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const auto* call = std::get_if<Call>(&after_.event(event).what);
    if (!call || changed.old_event[event - base] != kNone) continue;
    for (const CallEdge& edge : context_.calls_after.edges_of(event, changed.new_function)) {
      if (!context_.calls_after.is_function(edge.callee) || !after_.function(edge.callee).has(kConstructor))
        continue;
      for (std::uint32_t i = 0; i < arity(after_.function(edge.callee)); ++i)
        work_.push_back({Step::Value, kNone, edge.callee, i, why});
    }
  }
}

/// Another initial value: whatever reads it depends on the change.
void Slicer::seed_initial_values() {
  for (const auto& [variable, element] : changed_initial_values(context_)) {
    const std::uint32_t why =
        marks_.add({ImpactRule::ForwardSlice, "depends on the value of " + after_.program().name_of(variable),
                    after_.function(after_.where(element).function).file, after_.element(element).at});
    read_by_others(variable, why, false);
  }
}

}  // namespace simrt::impact
