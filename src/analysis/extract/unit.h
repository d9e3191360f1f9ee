// What all parts of one extraction share: the AST, its files, names and library knowledge, and the scopes.
// One a translation unit; not thread-safe.
#pragma once

#include <clang/AST/ASTContext.h>
#include <llvm/ADT/DenseMap.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/extract/files.h"
#include "analysis/extract/library.h"
#include "analysis/extract/names.h"
#include "analysis/extract/scope.h"
#include "analysis/extract/variables.h"

namespace simrt::analysis {

struct Unit {
  Unit(clang::ASTContext& ast_context, const ExtractOptions& options)
      : context(ast_context),
        files(ast_context.getSourceManager(), options),
        names(ast_context, files, options.unit_path),
        library(files),
        variables(names, files, library) {}

  clang::ASTContext& context;
  Files files;
  Names names;
  Library library;
  Variables variables;

  std::vector<std::unique_ptr<FunctionScope>> scopes;  ///< in order of declaration, parents first
  llvm::DenseMap<const clang::ValueDecl*, FunctionScope*>
      owner;  ///< scope that declares a local or parameter
  llvm::DenseMap<const clang::LambdaExpr*, FunctionScope*> lambdas;  ///< scope of a lambda's body

  /// Written in the repository; for instantiations, where the template stands.
  bool in_repository(const clang::Decl* declaration) {
    // Clang declares its builtins where they are first used.
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
      if (function->isImplicit() && function->getBuiltinID() != 0) return false;
    return files.in_repository(declaration->getLocation());
  }
};

}  // namespace simrt::analysis
