// Rule 1: the change adds or alters the access. New functions: all their accesses. Altered elements: all
// their accesses, except reads that are there as before when a call, lock, order or assignment beside them is
// what changed. Removed accesses impact what is left of the same variable in that function: a dropped check
// or initialising write changes what the remaining accesses may meet. A namespace-scope initialiser runs
// before any thread: its change shows in the readers.
#include <algorithm>
#include <map>
#include <set>

#include "impact/rules.h"

namespace simrt::impact {
namespace {

using PlaceKey = std::pair<VariableId, std::uint8_t>;

class AccessRule {
 public:
  AccessRule(const ChangeContext& context, Marks& marks)
      : context_(context), after_(context.after), marks_(marks) {}

  void added_function(std::uint32_t function) {
    const FunctionFacts& facts = after_.function(function);
    marks_.function(
        function,
        marks_.add(
            {ImpactRule::AccessChanged, "new function " + facts.name, facts.file, {facts.begin_line, 1}}));
  }

  void changed_function(const ChangedFunction& changed) {
    const Range elements = after_.elements_of(changed.new_function);
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      const ElementStatus status = changed.status[element - elements.begin];
      const bool moved = changed.moved_from[element - elements.begin] != kNone;
      if (status == ElementStatus::Added && !moved) mark(changed, element, "added");
      if (status == ElementStatus::Altered) altered_element(changed, element);
    }
    removed_accesses(changed, false);
    if (after_.function(changed.new_function).has(kStaticInit)) changed_initialiser(changed);
  }

  void moved_code(const ChangedFunction& changed) {
    const Range elements = after_.elements_of(changed.new_function);
    for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
      if (changed.moved_from[element - elements.begin] == kNone) continue;
      mark(changed, element, "moved");
      marks_.execution(element,
                       marks_.add({ImpactRule::CallChanged, "call moved",
                                   after_.function(changed.new_function).file, after_.element(element).at}));
    }
    removed_accesses(changed, true);
  }

 private:
  void mark(const ChangedFunction& changed, std::uint32_t element, const std::string& what,
            bool keep_twin_reads = false);
  void altered_element(const ChangedFunction& changed, std::uint32_t element);
  /// Accesses that are gone for good, or those that were only moved.
  void removed_accesses(const ChangedFunction& changed, bool moved);
  void changed_initialiser(const ChangedFunction& changed);
  bool only_order_differs(const ChangedFunction& changed, std::uint32_t element, const Access& access) const;
  bool still_in_partner(const ChangedFunction& changed, std::uint32_t old_element,
                        const Access& access) const;
  std::string name(const Access& access) const;

  const ChangeContext& context_;
  const ProgramIndex& after_;
  Marks& marks_;
};

std::string AccessRule::name(const Access& access) const {
  const std::string variable = after_.program().name_of(access.place.base);
  return access.place.derefs == 0 ? variable : "element of " + variable;
}

void AccessRule::mark(const ChangedFunction& changed, std::uint32_t element, const std::string& what,
                      bool keep_twin_reads) {
  const Range events = after_.events_of_element(element);
  const std::uint32_t base = after_.events_of(changed.new_function).begin;
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Access* access = std::get_if<Access>(&after_.event(event).what);
    if (!access) continue;
    const bool twin = changed.old_event[event - base] != kNone;
    if (keep_twin_reads && twin && access->mode == AccessMode::Read) continue;
    if (!twin && only_order_differs(changed, element, *access)) continue;  // a matter of rule 3
    const char* mode = access->mode == AccessMode::Write ? "write of " : "read of ";
    marks_.event(event, marks_.add({ImpactRule::AccessChanged, mode + name(*access) + " " + what,
                                    after_.function(changed.new_function).file, after_.event(event).at}));
  }
}

/// The partner has the same access with another memory order.
bool AccessRule::only_order_differs(const ChangedFunction& changed, std::uint32_t element,
                                    const Access& access) const {
  const std::uint32_t old = changed.old_element[element - after_.elements_of(changed.new_function).begin];
  if (old == kNone || access.order == MemoryOrder::NotAtomic) return false;
  const Range events = context_.before.events_of_element(old);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Access* other = std::get_if<Access>(&context_.before.event(event).what);
    if (other && other->mode == access.mode && other->order != access.order &&
        other->order != MemoryOrder::NotAtomic && changed.renaming.place(other->place) == access.place)
      return true;
  }
  return false;
}

bool AccessRule::still_in_partner(const ChangedFunction& changed, std::uint32_t old_element,
                                  const Access& access) const {
  const std::uint32_t partner =
      changed.new_element[old_element - context_.before.elements_of(changed.old_function).begin];
  if (partner == kNone) return false;
  const Range events = after_.events_of_element(partner);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Access* other = std::get_if<Access>(&after_.event(event).what);
    if (other && other->mode == access.mode && changed.renaming.place(access.place) == other->place)
      return true;
  }
  return false;
}

void AccessRule::altered_element(const ChangedFunction& changed, std::uint32_t element) {
  mark(changed, element, "altered", context_.alteration_is_in_events(changed, element));
}

void AccessRule::removed_accesses(const ChangedFunction& changed, bool moved) {
  const ProgramIndex& before = context_.before;
  const std::set<std::uint32_t> moved_away(changed.moved_from.begin(), changed.moved_from.end());
  const Range old_events = before.events_of(changed.old_function);
  std::map<PlaceKey, std::uint32_t> gone;  // place (of p') -> cause
  for (std::uint32_t event = old_events.begin; event < old_events.end; ++event) {
    if (changed.new_event[event - old_events.begin] != kNone || !context_.shared_before.contains(event))
      continue;
    if (moved_away.contains(before.element_of(event)) != moved) continue;
    const Access& access = std::get<Access>(before.event(event).what);
    if (still_in_partner(changed, before.element_of(event), access)) continue;  // altered, not gone
    const PlaceKey key{changed.renaming.variable(access.place.base), access.place.derefs};
    if (gone.contains(key)) continue;
    const std::string mode = access.mode == AccessMode::Write ? "write of " : "read of ";
    gone[key] =
        marks_.add({ImpactRule::AccessChanged,
                    mode + before.program().name_of(access.place.base) + (moved ? " moved" : " removed"),
                    after_.function(changed.new_function).file,
                    context_.nearest_in_after(changed, before.element_of(event))});
  }
  if (gone.empty()) return;
  const Range events = after_.events_of(changed.new_function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Access* access = std::get_if<Access>(&after_.event(event).what);
    if (!access) continue;
    if (const auto cause = gone.find({access->place.base, access->place.derefs}); cause != gone.end())
      marks_.event(event, cause->second);
  }
}

void AccessRule::changed_initialiser(const ChangedFunction& changed) {
  const Range elements = after_.elements_of(changed.new_function);
  std::set<VariableId> initialised;
  for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
    if (changed.status[element - elements.begin] == ElementStatus::Same) continue;
    const Range events = after_.events_of_element(element);
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      const Access* access = std::get_if<Access>(&after_.event(event).what);
      if (access && access->mode == AccessMode::Write) initialised.insert(access->place.base);
    }
  }
  if (initialised.empty()) return;
  const FunctionFacts& facts = after_.function(changed.new_function);
  const std::uint32_t cause =
      marks_.add({ImpactRule::AccessChanged,
                  "initial value of " + after_.program().name_of(*initialised.begin()) + " changed",
                  facts.file,
                  {facts.begin_line, 1}});
  for (std::uint32_t event = 0; event < after_.event_count(); ++event) {
    const Access* access = std::get_if<Access>(&after_.event(event).what);
    if (access && initialised.contains(access->place.base)) marks_.event(event, cause);
  }
}

}  // namespace

void rule_access(const ChangeContext& context, Marks& marks) {
  AccessRule rule(context, marks);
  for (std::uint32_t function : context.added()) rule.added_function(function);
  for (const ChangedFunction* changed : context.changed()) rule.changed_function(*changed);
}

void rule_moved(const ChangeContext& context, Marks& marks) {
  AccessRule rule(context, marks);
  for (const ChangedFunction* changed : context.changed()) rule.moved_code(*changed);
}

}  // namespace simrt::impact
