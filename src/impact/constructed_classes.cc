#include "impact/constructed_classes.h"

#include <algorithm>
#include <string_view>

#include "impact/place_types.h"

namespace simrt::impact {
namespace {

constexpr int kMaxBases = 16;     ///< levels of a hierarchy; a guard against damaged facts, not a limit met
constexpr int kMaxFactories = 4;  ///< functions that return what others made for them

/// "Class" of "ns::Class<int>".
std::string_view last_component(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>' || name[i] == ')') ++depth;
    if (name[i] == '<' || name[i] == '(') --depth;
    if (depth == 0 && name[i] == ':') return name.substr(i + 1);
  }
  return name;
}

std::string_view without_arguments(std::string_view name) { return name.substr(0, name.find_first_of("<(")); }

/// The class, when the name is that of a constructor.
std::string class_of_constructor(const std::string& name) {
  std::string owner = class_of(std::string_view(name));
  if (owner.empty() || name.size() <= owner.size() + 2) return {};
  const std::string_view own = without_arguments(std::string_view(name).substr(owner.size() + 2));
  return own == without_arguments(last_component(owner)) ? owner : std::string();
}

/// May return a pointer to an object that it or a callee made.
bool returns_objects(const ProgramIndex& index, std::uint32_t function) {
  const VariableFacts* result = index.program().variable(return_of(index.function(function).id));
  if (!result) return false;
  const TypeShape shape = shape_of(result->type);
  return (shape == TypeShape::Pointer && shape_of(referred_type(result->type)) == TypeShape::Class) ||
         (shape == TypeShape::Owner && result->type.find("_ptr<") != std::string::npos);
}

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

void ConstructedClasses::add_made(const ProgramIndex& index, const CallGraph& calls, std::uint32_t event,
                                  Made& made, int depth) const {
  const Call* call = std::get_if<Call>(&index.event(event).what);
  if (!call || !call->callee) return;
  const std::uint32_t caller = index.function_of_event(event);
  const auto edges = calls.edges_of(event, caller);
  if (edges.empty()) {
    if (std::string owner = class_of_constructor(call->name); !owner.empty())
      made.try_emplace(std::move(owner), kNone);
    return;
  }
  // A constructor that calls that of its base constructs nothing else.
  if (index.function(caller).has(kConstructor) && call->receiver &&
      call->receiver->place.base == receiver_of(index.function(caller).id))
    return;
  for (const CallEdge& edge : edges) {
    if (!calls.is_function(edge.callee)) continue;
    if (index.function(edge.callee).has(kConstructor)) {
      made.try_emplace(class_of(index.function(edge.callee)), edge.callee);
    } else if (depth < kMaxFactories && returns_objects(index, edge.callee)) {
      const Range inside = index.events_of(edge.callee);
      for (std::uint32_t inner = inside.begin; inner < inside.end; ++inner)
        add_made(index, calls, inner, made, depth + 1);
    }
  }
}

/// What the old statement made.
ConstructedClasses::Made ConstructedClasses::made_before(std::uint32_t element) const {
  Made made;
  const ChangedFunction* changed = context_.matching.changed(context_.after.where(element).function);
  if (!changed) return made;
  const std::uint32_t offset = element - context_.after.elements_of(changed->new_function).begin;
  const std::uint32_t old =
      changed->old_element[offset] != kNone ? changed->old_element[offset] : changed->moved_from[offset];
  if (old == kNone) return made;
  const Range events = context_.before.events_of_element(old);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    add_made(context_.before, context_.calls_before, event, made, 0);
  return made;
}

/// The class's own methods and, through the constructors of its bases, the inherited ones that it does not
/// override itself. (What a class in between overrides counts as inherited, too.)
void ConstructedClasses::add_methods(const std::string& owner, std::uint32_t constructor,
                                     const std::string& dynamic_class, std::vector<std::uint32_t>& found,
                                     int depth) {
  const ProgramIndex& after = context_.after;
  if (const auto own = methods_.find(owner); own != methods_.end()) {
    for (std::uint32_t method : own->second) {
      const auto overriders = context_.calls_after.overriders(method);
      if (std::none_of(overriders.begin(), overriders.end(), [&](std::uint32_t overrider) {
            return class_of(after.function(overrider)) == dynamic_class;
          }))
        found.push_back(method);
    }
  }
  if (depth >= kMaxBases || constructor == kNone) return;
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
        add_methods(class_of(after.function(edge.callee)), edge.callee, dynamic_class, found, depth + 1);
  }
}

std::vector<std::uint32_t> ConstructedClasses::newly_dispatched(std::uint32_t call_event) {
  if (!indexed_) index_methods();
  std::vector<std::uint32_t> found;
  Made now;
  add_made(context_.after, context_.calls_after, call_event, now, 0);
  if (now.empty()) return found;
  const Made then = made_before(context_.after.element_of(call_event));
  for (const auto& [owner, constructor] : now)
    if (!then.contains(owner)) add_methods(owner, constructor, owner, found, 0);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace simrt::impact
