// One function as the extraction sees it: identity, numbered locals, captures, nesting. Built by the
// collector before any body is analysed, so that a lambda can name the locals of the function around it.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/DenseMap.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.h"

namespace simrt::analysis {

struct Capture {
  const clang::ValueDecl* variable = nullptr;  ///< the captured variable, or the one an init-capture declares
  bool by_reference = false;
};

struct FunctionScope {
  const clang::FunctionDecl* function =
      nullptr;  ///< null: initialiser of `variable`, or a field's lambda holder
  const clang::VarDecl* variable = nullptr;
  const clang::Stmt* body = nullptr;
  const clang::LambdaExpr* lambda = nullptr;
  FunctionScope* parent = nullptr;  ///< the function around a lambda or around a local class
  FunctionId id;
  std::string usr;
  FunctionId pattern;
  std::uint32_t flags = kFunctionNone;

  /// Parameters, then captures, then variables in order of declaration. A static local stands here for its
  /// placeholder only; its memory is named by its USR.
  std::vector<Local> locals;
  llvm::DenseMap<const clang::ValueDecl*, std::uint32_t> ordinals;
  std::vector<const clang::ValueDecl*> variables;  ///< parallel to locals
  std::vector<Capture> captures;
  unsigned lambdas = 0;  ///< named so far

  const clang::NamedDecl* declaration() const {
    return function ? static_cast<const clang::NamedDecl*>(function) : variable;
  }

  std::uint32_t add_local(const clang::ValueDecl* declaration, Local local) {
    const auto ordinal = static_cast<std::uint32_t>(locals.size());
    ordinals.try_emplace(declaration, ordinal);
    variables.push_back(declaration);
    locals.push_back(std::move(local));
    return ordinal;
  }
  std::optional<std::uint32_t> ordinal_of(const clang::ValueDecl* declaration) const {
    const auto found = ordinals.find(declaration);
    return found == ordinals.end() ? std::nullopt : std::optional(found->second);
  }
  /// Index into captures, when `declaration` is captured by this lambda.
  std::optional<std::size_t> capture_of(const clang::ValueDecl* declaration) const {
    for (std::size_t i = 0; i < captures.size(); ++i)
      if (captures[i].variable == declaration) return i;
    return std::nullopt;
  }
};

}  // namespace simrt::analysis
