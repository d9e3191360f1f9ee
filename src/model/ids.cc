#include "model/ids.h"

#include "support/hash.h"

namespace simrt {
namespace {

enum NodeKind : std::uint64_t { kParameter = 1, kReceiver, kReturn, kLocal };

VariableId node(FunctionId function, NodeKind kind, std::uint64_t index) {
  return {hash_combine(hash_combine(function.value, kind), index)};
}

}  // namespace

FunctionId function_id(std::string_view usr) { return {hash_bytes(usr)}; }
VariableId variable_id(std::string_view canonical_name) { return {hash_bytes(canonical_name)}; }
TestId test_id(std::string_view name) { return {hash_bytes(name)}; }

VariableId parameter_of(FunctionId function, std::uint32_t index) {
  return node(function, kParameter, index);
}
VariableId receiver_of(FunctionId function) { return node(function, kReceiver, 0); }
VariableId return_of(FunctionId function) { return node(function, kReturn, 0); }
VariableId local_of(FunctionId function, std::uint32_t ordinal) { return node(function, kLocal, ordinal); }

}  // namespace simrt
