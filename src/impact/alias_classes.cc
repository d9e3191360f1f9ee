#include "impact/alias_classes.h"

#include <algorithm>
#include <map>

#include "impact/place_types.h"
#include "impact/shared_memory.h"
#include "support/hash.h"

namespace simrt::impact {
namespace {

constexpr std::uint8_t kMaxDerefs =
    4;  ///< deeper places share the class of this depth; keeps cyclic types finite

bool has_suffix(const std::string& name, std::string_view word) {
  const std::string_view plain = std::string_view(name).substr(0, name.find('('));
  return plain.size() >= word.size() && plain.substr(plain.size() - word.size()) == word;
}

/// Functions outside the program that copy what one argument points to into what another one points to.
bool copies_contents(const std::string& name) {
  for (std::string_view word : {"memcpy", "memmove", "swap", "exchange", "copy", "move_backward", "copy_n"})
    if (has_suffix(name, word)) return true;
  return false;
}

std::string_view type_of_variable(const Program& program, VariableId id) {
  const VariableFacts* facts = program.variable(id);
  return facts ? std::string_view(facts->type) : std::string_view();
}

/// Type of the object that a value is, points to or refers to.
std::string_view object_type(const Program& program, const Value& value) {
  const std::string_view type = type_of_variable(program, value.place.base);
  const int loads = value.place.derefs + (value.address_of ? 0 : 1);
  if (loads == 0) return bare_type(type);
  return loads == 1 ? referred_type(type) : std::string_view();
}

bool may_be_one(std::string_view a, std::string_view b) {
  const TypeShape shape_a = shape_of(a), shape_b = shape_of(b);
  if (shape_a == TypeShape::Unknown || shape_b == TypeShape::Unknown) return true;
  if (shape_a == TypeShape::Bytes || shape_b == TypeShape::Bytes) return true;
  return shape_a != TypeShape::Scalar || shape_b != TypeShape::Scalar ? shape_a == shape_b
                                                                      : bare_type(a) == bare_type(b);
}

}  // namespace

AliasClasses::AliasClasses(const ProgramIndex& index, const CallGraph& calls) : index_(index), calls_(calls) {
  relate_shared_memory();
  relate_variants_and_overriders();
  relate_callbacks();
  for (std::uint32_t element = 0; element < index_.element_count(); ++element) analyse_element(element);
  name_classes();
}

// ------------------------------------------------------------------------------------------ union-find

AliasClasses::Node AliasClasses::find(Node node) const {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

AliasClasses::Node AliasClasses::named(VariableId variable) {
  auto [known, fresh] = named_.try_emplace(variable, static_cast<Node>(parent_.size()));
  if (fresh) {
    parent_.push_back(known->second);
    size_.push_back(1);
    pointee_.push_back(kNone);
  }
  return find(known->second);
}

AliasClasses::Node AliasClasses::pointee(Node node) {
  node = find(node);
  if (pointee_[node] == kNone) {
    const Node fresh = static_cast<Node>(parent_.size());
    parent_.push_back(fresh);
    size_.push_back(1);
    pointee_.push_back(kNone);
    pointee_[node] = fresh;
  }
  return find(pointee_[node]);
}

AliasClasses::Node AliasClasses::at(const Place& place) {
  Node node = named(place.base);
  for (std::uint8_t i = 0; i < std::min(place.derefs, kMaxDerefs); ++i) node = pointee(node);
  return node;
}

AliasClasses::Node AliasClasses::target(const Value& value) {
  const Node node = at(value.place);
  return value.address_of ? node : pointee(node);
}

void AliasClasses::unify(Node a, Node b) {
  std::vector<std::pair<Node, Node>> work{{a, b}};
  while (!work.empty()) {
    auto [x, y] = work.back();
    work.pop_back();
    x = find(x), y = find(y);
    if (x == y) continue;
    if (size_[x] < size_[y]) std::swap(x, y);
    parent_[y] = x;
    size_[x] += size_[y];
    if (pointee_[y] == kNone) continue;
    if (pointee_[x] == kNone) {
      pointee_[x] = pointee_[y];
    } else {
      work.emplace_back(pointee_[x], pointee_[y]);
    }
  }
}

void AliasClasses::assign(const Place& to, const Value& value) {
  if (!value.place.base || !to.base) return;
  // Plain numbers flow everywhere; only what can hold an address relates pointees.
  const TypeShape shape =
      to.derefs == 0 ? shape_of(type_of_variable(index_.program(), to.base)) : TypeShape::Unknown;
  if (shape == TypeShape::Scalar && !value.address_of) return;
  unify(pointee(at(to)), target(value));
}

// ---------------------------------------------------------------------------------------- value flow

/// A write of one writes the others.
void AliasClasses::relate_shared_memory() {
  for (const SharedMemory& memory : shared_memory(index_.program())) {
    for (VariableId member : memory.members) {
      unify(named(memory.members.front()), named(member));
      of_any_type_.insert(member);
    }
    for (VariableId array : memory.elements) unify(named(array), pointee(named(array)));
  }
}

void AliasClasses::relate_variants_and_overriders() {
  const auto same_signature = [&](FunctionId a, FunctionId b, std::uint32_t parameters) {
    for (std::uint32_t i = 0; i < parameters; ++i)
      unify(pointee(named(parameter_of(a, i))), pointee(named(parameter_of(b, i))));
    unify(pointee(named(receiver_of(a))), pointee(named(receiver_of(b))));
    unify(pointee(named(return_of(a))), pointee(named(return_of(b))));
  };
  for (std::uint32_t f = 0; f < index_.function_count(); ++f) {
    const FunctionFacts& facts = index_.function(f);
    const std::vector<FunctionId> names = index_.identities(f);
    for (FunctionId name : names)
      if (name != facts.id) same_signature(facts.id, name, arity(facts));
    for (FunctionId base : facts.overrides) same_signature(facts.id, base, arity(facts));
  }
}

void AliasClasses::analyse_element(std::uint32_t element) {
  const Range events = index_.events_of_element(element);
  const std::uint32_t caller = index_.where(element).function;
  std::vector<const Call*> external;
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Call* call = std::get_if<Call>(&index_.event(event).what);
    if (!call) continue;
    const bool known = !calls_.edges_of(event, caller).empty();
    if (known) bind_call(*call, event, caller);
    if (!known && call->callee) {
      bind_external(*call);
      external.push_back(call);
    }
  }
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Binding* binding = std::get_if<Binding>(&index_.event(event).what);
    if (!binding) continue;
    const auto source = std::find_if(external.begin(), external.end(), [&](const Call* call) {
      return return_of(call->callee) == binding->value.place.base;
    });
    if (source != external.end()) {
      bind_external_result(binding->target, **source);
    } else {
      assign(binding->target, binding->value);
    }
  }
  if (!external.empty()) hand_to_callbacks(external, element);
}

/// Overriders and variants share the nodes of the function that the call names
/// (relate_variants_and_overriders); calls through a pointer share those of the pseudo-node that stands for
/// all callbacks.
void AliasClasses::bind_call(const Call& call, std::uint32_t event, std::uint32_t caller) {
  if (call.callee) bind_arguments(call, call.callee);
  for (const CallEdge& edge : calls_.edges_of(event, caller)) {
    if (!calls_.is_function(edge.callee)) {
      bind_arguments(call, pseudo_function(edge.callee));
    } else if (index_.function(edge.callee).pattern == call.callee) {
      const FunctionId instance = index_.function(edge.callee).id;
      bind_arguments(call, instance);
      unify(pointee(named(return_of(call.callee))), pointee(named(return_of(instance))));
    }
  }
}

void AliasClasses::bind_arguments(const Call& call, FunctionId callee) {
  for (std::uint32_t i = 0; i < call.arguments.size(); ++i)
    assign({parameter_of(callee, i), 0, {}}, call.arguments[i]);
  if (call.receiver) assign({receiver_of(callee), 0, {}}, *call.receiver);
}

FunctionId AliasClasses::pseudo_function(std::uint32_t node) const {
  return {hash_combine(0x63616C6C, node)};
}

void AliasClasses::relate_callbacks() {
  for (std::uint32_t node = index_.function_count(); node < calls_.node_count(); ++node) {
    const FunctionId hub = pseudo_function(node);
    for (const CallEdge& edge : calls_.out(node)) {
      const FunctionFacts& callback = index_.function(edge.callee);
      for (std::uint32_t i = 0; i < arity(callback); ++i)
        unify(pointee(named(parameter_of(hub, i))), pointee(named(parameter_of(callback.id, i))));
    }
  }
}

/// What a call outside the program may leave in the object it is made on, or copy between its arguments.
void AliasClasses::bind_external(const Call& call) {
  const Program& program = index_.program();
  if (call.receiver && call.receiver->place.base) {
    const std::string_view type = object_type(program, *call.receiver);
    const TypeShape shape = shape_of(type);
    if (shape == TypeShape::Text || shape == TypeShape::Scalar) return;
    for (const Value& argument : call.arguments) {
      if (!argument.place.base || shape_of(object_type(program, argument)) == TypeShape::Text) continue;
      const Node object = target(*call.receiver);
      // An owner holds the address itself; a container of pointers holds it one step further in.
      if (shape == TypeShape::Owner)
        unify(pointee(object), target(argument));
      else if (!argument.address_of || type.find('*') != std::string_view::npos)
        unify(pointee(pointee(object)), target(argument));
    }
    return;
  }
  if (!copies_contents(call.name) || call.arguments.size() < 2) return;
  const Value& first = call.arguments[0];
  for (std::size_t i = 1; i < call.arguments.size(); ++i)
    if (first.place.base && call.arguments[i].place.base)
      unify(pointee(target(first)), pointee(target(call.arguments[i])));
}

/// The result may be, or point into, anything that this very call was given.
void AliasClasses::bind_external_result(const Place& to, const Call& call) {
  const Program& program = index_.program();
  const std::string_view type = to.derefs == 0 ? type_of_variable(program, to.base) : std::string_view();
  const TypeShape shape = shape_of(type);
  if (shape == TypeShape::Scalar || shape == TypeShape::Bytes || shape == TypeShape::Text) return;
  std::vector<Value> given = call.arguments;
  if (call.receiver) given.push_back(*call.receiver);
  for (const Value& value : given) {
    if (!value.place.base) continue;
    const std::string_view given_type = object_type(program, value);
    const TypeShape given_shape = shape_of(given_type);
    const bool holds_elements = given_shape == TypeShape::Class || given_shape == TypeShape::Owner ||
                                given_shape == TypeShape::Text || given_shape == TypeShape::Unknown;
    if (shape == TypeShape::Pointer || shape == TypeShape::Unknown) {
      if (may_be_one(referred_type(type), given_type)) unify(pointee(at(to)), target(value));
      if (holds_elements && given_shape != TypeShape::Unknown) unify(pointee(at(to)), pointee(target(value)));
    } else if (holds_elements) {
      unify(pointee(at(to)), pointee(target(value)));
    } else {
      unify(pointee(at(to)), target(value));
    }
  }
}

/// A callback handed to a function outside the program is given the other arguments of that call.
void AliasClasses::hand_to_callbacks(const std::vector<const Call*>& external, std::uint32_t element) {
  const Range events = index_.events_of_element(element);
  const std::uint32_t caller = index_.where(element).function;
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    const Call* handed = std::get_if<Call>(&index_.event(event).what);
    if (!handed || handed->kind != CallKind::Callback) continue;
    for (const CallEdge& edge : calls_.edges_of(event, caller)) {
      const FunctionFacts& callback = index_.function(edge.callee);
      for (const Call* call : external) {
        for (const Value& value : call->arguments) {
          if (!value.place.base) continue;
          for (std::uint32_t i = 0; i < arity(callback); ++i) {
            const Place parameter{parameter_of(callback.id, i), 0, {}};
            const std::string_view type = type_of_variable(index_.program(), parameter.base);
            if (shape_of(type) != TypeShape::Scalar &&
                may_be_one(referred_type(type), object_type(index_.program(), value)))
              unify(pointee(at(parameter)), target(value));
          }
        }
      }
    }
  }
}

// ------------------------------------------------------------------------------------------- results

void AliasClasses::name_classes() {
  for (const auto& [variable, start] : named_) {
    Node node = find(start);
    for (std::uint8_t depth = 0; depth <= kMaxDerefs; ++depth) {
      const std::uint64_t id = depth == 0 ? variable.value : hash_combine(variable.value, depth);
      auto [known, fresh] = class_ids_.try_emplace(node, id);
      if (!fresh) known->second = std::min(known->second, id);
      if (pointee_[node] == kNone) break;
      node = find(pointee_[node]);
    }
  }
}

std::uint64_t AliasClasses::class_of(const Place& place) const {
  const std::uint8_t derefs = std::min(place.derefs, kMaxDerefs);
  const std::uint64_t own = derefs == 0 ? place.base.value : hash_combine(place.base.value, derefs);
  const auto start = named_.find(place.base);
  if (start == named_.end()) return own;
  Node node = find(start->second);
  for (std::uint8_t i = 0; i < derefs; ++i) {
    if (pointee_[node] == kNone) return own;
    node = find(pointee_[node]);
  }
  return class_ids_.at(node);
}

std::uint64_t AliasClasses::type_of(const Place& place) const {
  std::string_view type = type_of_variable(index_.program(), place.base);
  if (place.derefs > 1) return 0;
  if (of_any_type_.contains(place.base)) return 0;  // its location is that of others, too
  type = place.derefs == 1 ? referred_type(type) : bare_type(type);
  if (shape_of(type) != TypeShape::Scalar) return 0;
  // Signed and unsigned of one width may alias.
  for (std::string_view word : {std::string_view("unsigned "), std::string_view("signed ")})
    if (type.substr(0, word.size()) == word) type.remove_prefix(word.size());
  return hash_bytes(type == "unsigned" ? "int" : type);
}

std::vector<std::pair<std::uint64_t, std::size_t>> AliasClasses::largest(std::size_t count) const {
  std::map<std::uint64_t, std::size_t> members;
  for (const auto& [variable, start] : named_) {
    Node node = find(start);
    for (std::uint8_t depth = 0; depth <= kMaxDerefs; ++depth) {
      ++members[class_ids_.at(node)];
      if (pointee_[node] == kNone) break;
      node = find(pointee_[node]);
    }
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted(members.begin(), members.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (sorted.size() > count) sorted.resize(count);
  return sorted;
}

}  // namespace simrt::impact
