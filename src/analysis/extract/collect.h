// Finds every function with a body in the repository, and numbers its locals.
// Declarations outside the repository are not entered, so the cost follows the repository's code.
#pragma once

#include "analysis/extract/unit.h"

namespace simrt::analysis {

/// Fills unit.scopes and unit.owner and names the closures.
void collect_functions(Unit& unit);

/// Numbers the locals of a scope whose body is set, decides which escape, and creates the scopes nested in it
/// (lambdas, methods of local classes).
void scan_body(Unit& unit, FunctionScope& scope);

/// A function that a local's address does not outlive, though it takes a reference (std::move, std::swap,
/// memcpy, ...).
bool keeps_no_address(Unit& unit, const clang::FunctionDecl* function);

/// Names the closure and creates the scopes of its call operator (all instances of a generic lambda).
void collect_lambda(Unit& unit, const clang::LambdaExpr* lambda, FunctionScope& parent);
/// Creates and scans the scope of `function`'s definition, when it has one that matters. `parent` may be
/// null.
void collect_function(Unit& unit, const clang::FunctionDecl* function, FunctionScope* parent);
/// The members of a class: methods, nested classes, static members, friends defined in it.
void collect_members(Unit& unit, const clang::DeclContext* context, FunctionScope* parent);

}  // namespace simrt::analysis
