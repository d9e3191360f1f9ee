// What a call through a pointer to function tells about its callee.
#pragma once

#include <clang/AST/Type.h>

#include <cstdint>

namespace simrt::analysis {

/// FunctionFacts::prototype of a function type, or of a pointer or reference to one. 0 when it is variadic,
/// dependent, without a prototype, or no function.
std::uint64_t prototype_shape(clang::QualType type);

/// True for a pointer or reference to a function whose parameters are all known: what it calls takes exactly
/// these.
bool has_exact_prototype(clang::QualType type);

}  // namespace simrt::analysis
