// Strong identities. Every id is a stable 64-bit hash of a canonical string, so that it is equal
// across translation units, revisions, machines and merged history shards.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>

namespace simrt {

template <class Tag>
struct StrongId {
  std::uint64_t value = 0;  ///< 0 means "none"
  explicit operator bool() const { return value != 0; }
  auto operator<=>(const StrongId&) const = default;
};

/// A function, lambda, template pattern, one instantiation, or the pseudo-function of a global's initialiser.
using FunctionId = StrongId<struct FunctionTag>;
/// A named memory location class: global, field (of the template pattern's class), local, parameter, return
/// value.
using VariableId = StrongId<struct VariableTag>;
/// A test case as the user names it.
using TestId = StrongId<struct TestTag>;

FunctionId function_id(std::string_view usr);
VariableId variable_id(std::string_view canonical_name);
TestId test_id(std::string_view name);

/// Memory nodes every function has, named by position so that a call site can bind them without seeing the
/// callee.
VariableId parameter_of(FunctionId function, std::uint32_t index);
VariableId receiver_of(FunctionId function);  ///< the pointer `this`
VariableId return_of(FunctionId function);    ///< the returned value
/// Local number `ordinal` of `function` (FunctionFacts::locals index).
VariableId local_of(FunctionId function, std::uint32_t ordinal);

/// A CFG block of one version of a function; `ordinal` is Clang's CFG block id.
struct BlockId {
  FunctionId function;
  std::uint32_t ordinal = 0;
  auto operator<=>(const BlockId&) const = default;
};

}  // namespace simrt

template <class Tag>
struct std::hash<simrt::StrongId<Tag>> {
  std::size_t operator()(simrt::StrongId<Tag> id) const noexcept { return id.value; }
};

template <>
struct std::hash<simrt::BlockId> {
  std::size_t operator()(simrt::BlockId id) const noexcept {
    return id.function.value ^ (0x9E3779B97F4A7C15ULL * (id.ordinal + 1));
  }
};
