// Alias classes: which places may be the same memory (the `d` of an access). Unification in the manner of
// Steensgaard over the value flow between places; fields are one node a class and field, whatever the object,
// so the classes are small without any context. Whole-program, flow-insensitive, near linear.
//
// Over-merging is bounded in three ways, none of which separates places that may be one:
//  - a call of a function outside the program relates its result to its own arguments only, per call site;
//  - what such a call may store is told by the type of the object it is called on (a std::string keeps no
//  pointer);
//  - may_alias() also looks at types: two places of one class whose known scalar types differ are not one
//  location
//    (C++ forbids it; char, void, unknown and class types stay compatible with everything).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "impact/call_graph.h"
#include "impact/program_index.h"

namespace simrt::impact {

class AliasClasses {
 public:
  AliasClasses(const ProgramIndex& index, const CallGraph& calls);

  /// Stable number of the class: the smallest hash of its members, independent of the order of analysis.
  std::uint64_t class_of(const Place& place) const;
  /// Scalar type of the location, 0 = compatible with everything.
  std::uint64_t type_of(const Place& place) const;
  static bool may_alias(std::uint64_t type_a, std::uint64_t type_b) {
    return type_a == 0 || type_b == 0 || type_a == type_b;
  }
  /// Named places (derefs 0 and up) in each class, for diagnosis; largest first.
  std::vector<std::pair<std::uint64_t, std::size_t>> largest(std::size_t count) const;

 private:
  using Node = std::uint32_t;

  Node find(Node node) const;
  Node named(VariableId variable);
  Node pointee(Node node);
  Node at(const Place& place);
  /// What `value` points to.
  Node target(const Value& value);
  void unify(Node a, Node b);
  void assign(const Place& target, const Value& value);

  void relate_shared_memory();
  void relate_variants_and_overriders();
  void analyse_element(std::uint32_t element);
  void bind_call(const Call& call, std::uint32_t event, std::uint32_t caller);
  void bind_arguments(const Call& call, FunctionId callee);
  FunctionId pseudo_function(std::uint32_t node) const;
  void relate_callbacks();
  void bind_external(const Call& call);
  void bind_external_result(const Place& target, const Call& call);
  void hand_to_callbacks(const std::vector<const Call*>& external, std::uint32_t element);
  void name_classes();

  const ProgramIndex& index_;
  const CallGraph& calls_;
  mutable std::vector<Node> parent_;
  std::vector<std::uint32_t> size_;
  std::vector<Node> pointee_;
  std::unordered_map<VariableId, Node> named_;
  std::unordered_set<VariableId> of_any_type_;  ///< may be the memory of variables of other types
  std::unordered_map<Node, std::uint64_t> class_ids_;
};

}  // namespace simrt::impact
