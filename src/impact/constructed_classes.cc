#include "impact/constructed_classes.h"

#include <algorithm>

namespace simrt::impact {
namespace {

constexpr int kMaxBases = 16;  ///< levels of a hierarchy; a guard against damaged facts, not a limit met

}  // namespace

bool ConstructedClasses::is_virtual(std::uint32_t method) const {
  const FunctionFacts& facts = context_.after.function(method);
  return !facts.has(kConstructor) &&
         (!facts.overrides.empty() || !context_.calls_after.overriders(method).empty());
}

void ConstructedClasses::index_methods() {
  indexed_ = true;
  for (std::uint32_t f = 0; f < context_.after.function_count(); ++f)
    if (is_virtual(f)) methods_[class_of(context_.after.function(f))].push_back(f);
}

/// The old statement made objects of this class, too.
bool ConstructedClasses::constructed_before(std::uint32_t element, const std::string& owner) const {
  const ChangedFunction* changed = context_.matching.changed(context_.after.where(element).function);
  if (!changed) return false;
  const std::uint32_t offset = element - context_.after.elements_of(changed->new_function).begin;
  const std::uint32_t old =
      changed->old_element[offset] != kNone ? changed->old_element[offset] : changed->moved_from[offset];
  if (old == kNone) return false;
  const Range events = context_.before.events_of_element(old);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    for (const CallEdge& edge : context_.calls_before.edges_of(event, changed->old_function)) {
      if (!context_.calls_before.is_function(edge.callee)) continue;
      const FunctionFacts& callee = context_.before.function(edge.callee);
      if (callee.has(kConstructor) && class_of(callee) == owner) return true;
    }
  return false;
}

/// The class's own methods and, through the constructors of its bases, the inherited ones that it does not
/// override itself. (What a class in between overrides counts as inherited, too.)
void ConstructedClasses::add_methods(std::uint32_t constructor, const std::string& dynamic_class,
                                     std::vector<std::uint32_t>& found, int depth) {
  const ProgramIndex& after = context_.after;
  const FunctionFacts& facts = after.function(constructor);
  if (const auto own = methods_.find(class_of(facts)); own != methods_.end()) {
    for (std::uint32_t method : own->second) {
      const auto overriders = context_.calls_after.overriders(method);
      if (std::none_of(overriders.begin(), overriders.end(), [&](std::uint32_t overrider) {
            return class_of(after.function(overrider)) == dynamic_class;
          }))
        found.push_back(method);
    }
  }
  if (depth >= kMaxBases) return;
  const std::vector<FunctionId> names = after.identities(constructor);
  const Range events = after.events_of(constructor);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Call* call = std::get_if<Call>(&after.event(event).what);
    if (!call || !call->receiver) continue;
    const bool on_this = std::any_of(names.begin(), names.end(), [&](FunctionId name) {
      return call->receiver->place.base == receiver_of(name);
    });
    if (!on_this) continue;  // members are other objects
    for (const CallEdge& edge : context_.calls_after.edges_of(event, constructor))
      if (edge.callee != constructor && context_.calls_after.is_function(edge.callee) &&
          after.function(edge.callee).has(kConstructor))
        add_methods(edge.callee, dynamic_class, found, depth + 1);
  }
}

std::vector<std::uint32_t> ConstructedClasses::newly_dispatched(std::uint32_t call_event) {
  if (!indexed_) index_methods();
  std::vector<std::uint32_t> found;
  const std::uint32_t caller = context_.after.function_of_event(call_event);
  // A constructor that calls that of its base, or a class that holds the object, constructs nothing else.
  const Call& call = std::get<Call>(context_.after.event(call_event).what);
  const bool base = context_.after.function(caller).has(kConstructor) && call.receiver &&
                    call.receiver->place.base == receiver_of(context_.after.function(caller).id);
  if (base) return found;
  for (const CallEdge& edge : context_.calls_after.edges_of(call_event, caller)) {
    if (!context_.calls_after.is_function(edge.callee)) continue;
    const FunctionFacts& constructor = context_.after.function(edge.callee);
    if (!constructor.has(kConstructor)) continue;
    const std::string owner = class_of(constructor);
    if (constructed_before(context_.after.element_of(call_event), owner)) continue;
    add_methods(edge.callee, owner, found, 0);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace simrt::impact
