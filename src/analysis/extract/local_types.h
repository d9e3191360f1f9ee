// Whether an instantiation has something to do with types that a function body declares.
#pragma once

#include <clang/AST/Decl.h>

#include <functional>

namespace simrt::analysis {

/// True when an argument of the function, or of a class or function around it, is or holds a class,
/// enumeration or lambda that stands in a function and that `counts`.
bool is_for_local_type(const clang::FunctionDecl& function,
                       const std::function<bool(const clang::Decl&)>& counts);

}  // namespace simrt::analysis
