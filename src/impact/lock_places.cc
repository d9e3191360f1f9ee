#include "impact/lock_places.h"

#include <algorithm>
#include <string_view>

namespace simrt::impact {
namespace {

/// Recursion over linked objects (`this.next.next...`) would never settle: beyond this a lock is that of any
/// object.
constexpr std::ptrdiff_t kMaxComponents = 6;

std::string any_object(const std::string& path) { return "*" + path.substr(path.rfind('.')); }

std::string class_of_type(std::string type) {
  const auto strip = [&](const std::string& word) {
    if (type.rfind(word, 0) == 0) type.erase(0, word.size());
  };
  strip("const "), strip("volatile "), strip("class "), strip("struct ");
  while (!type.empty() && (type.back() == '*' || type.back() == '&' || type.back() == ' ')) type.pop_back();
  return type;
}

}  // namespace

bool is_any_object(const std::string& path) { return path.rfind("*.", 0) == 0; }

LockPlaces::LockPlaces(const LockContext& context, std::uint32_t function)
    : context_(context), index_(context.index), frame_(lock_frame(context, function)) {}

std::uint32_t LockPlaces::any_object_of(std::uint32_t lock) {
  return named(any_object(context_.names.path(lock)), context_.names.variable(lock));
}

std::optional<std::uint32_t> LockPlaces::in_caller(std::uint32_t callee_lock, const Call& call,
                                                   std::uint32_t callee) {
  const std::string& path = context_.names.path(callee_lock);
  const FunctionFacts& facts = index_.function(callee);
  const auto here = frame_.from_callee(path, call, facts.has(kLambda) ? facts.parent : FunctionId{});
  if (!here) return std::nullopt;
  const bool only_head = path.find('.') == std::string::npos;
  const VariableId written = frame_.variable_of(*here);
  const bool too_long = std::count(here->begin(), here->end(), '.') >= kMaxComponents;
  const std::string& name = too_long ? any_object(*here) : *here;
  const VariableId variable = only_head && path[0] != '@' ? written : context_.names.variable(callee_lock);
  // What the callee itself names a part of an object of its own (`this.a.mu`) stays that; a bare `this.mu` is
  // whatever object the caller calls it on.
  const bool named_there = std::count(path.begin(), path.end(), '.') > 1 || path[0] == '@';
  if (!named_there) return named(name, variable);
  const std::uint32_t lock = context_.names.lock(name, variable, context_.names.variable_name(callee_lock));
  context_.names.share_owners(lock, callee_lock);
  return lock;
}

std::uint32_t LockPlaces::named(const std::string& path, VariableId variable) {
  // A parameter is no lock variable: the caller knows which one it is.
  const bool nameless = path.find('.') == std::string::npos && path[0] != '@';
  const VariableFacts* facts = index_.program().variable(variable);
  const std::uint32_t lock = nameless
                                 ? context_.names.lock(path, {}, {})
                                 : context_.names.lock(path, variable, facts ? facts->name : std::string());
  context_.names.add_owner(lock, nameless ? VariableId{} : owner_of(path, variable));
  return lock;
}

/// The field or global that the lock at `path` is, or is the only part of that matters (the std::mutex in a
/// home-made mutex class); {} when it is reached through a pointer or a parameter.
VariableId LockPlaces::owner_of(const std::string& path, VariableId variable) const {
  const auto object = [&](VariableId candidate) {
    const VariableFacts* facts = index_.program().variable(candidate);
    const bool refers =
        !facts || facts->type.empty() || facts->type.back() == '*' || facts->type.back() == '&';
    const bool lasting =
        facts && (facts->kind == VariableKind::Field || facts->kind == VariableKind::Global ||
                  facts->kind == VariableKind::StaticMember);
    return lasting && !refers ? candidate : VariableId{};
  };
  if (is_any_object(path)) return {};
  if (!context_.names.is_lockable_member(variable)) return object(variable);
  return object(frame_.variable_of(path.substr(0, path.rfind('.'))));
}

std::uint32_t LockPlaces::at(const Place& place) {
  std::string path = frame_.path(place);
  VariableId variable = frame_.variable_of(path);
  if (const VariableFacts* facts = index_.program().variable(place.base)) {
    const auto wrapped = context_.lockable.find(class_of_type(facts->type));
    if (wrapped != context_.lockable.end()) {
      variable = wrapped->second;
      path += "." + std::string(last_component(index_.program().name_of(variable)));
    }
  }
  return named(path, variable);
}

Frame lock_frame(const LockContext& context, std::uint32_t function) {
  Frame frame(context.index, function);
  frame.bind_own_assignments();
  const Range events = context.index.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Call* call = std::get_if<Call>(&context.index.event(event).what);
    if (!call || call->kind != CallKind::Direct || !call->receiver) continue;
    for (std::uint32_t callee : context.index.variants(call->callee)) {
      if (!context.index.function(callee).has(kConstructor)) continue;
      const std::string object = frame.path(*call->receiver);
      if (object.empty()) continue;
      for (const auto& [member, target] : context.equalities(callee))
        if (const auto here = frame.from_callee(target, *call, {}))
          frame.bind(object + member.substr(std::string_view("this").size()), *here);
    }
  }
  return frame;
}

}  // namespace simrt::impact
