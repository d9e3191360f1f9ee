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
#include "analysis/extract/local_types.h"
#include "analysis/extract/names.h"
#include "analysis/extract/scope.h"
#include "analysis/extract/variables.h"

namespace simrt::analysis {

struct Unit {
  Unit(clang::ASTContext& ast_context, const ExtractOptions& given)
      : context(ast_context),
        files(ast_context.getSourceManager(), given),
        names(ast_context, files, given.unit_path),
        library(files),
        variables(names, files, library),
        options(given) {}

  clang::ASTContext& context;
  Files files;
  Names names;
  Library library;
  Variables variables;
  const ExtractOptions& options;

  std::vector<std::unique_ptr<FunctionScope>> scopes;  ///< in order of declaration, parents first
  llvm::DenseMap<const clang::ValueDecl*, FunctionScope*>
      owner;  ///< scope that declares a local or parameter
  llvm::DenseMap<const clang::LambdaExpr*, FunctionScope*> lambdas;  ///< scope of a lambda's body
  SkippedFunctions skipped;

  /// Written in the repository; for instantiations, where the template stands.
  bool in_repository(const clang::Decl* declaration) {
    // Clang declares its builtins where they are first used.
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
      if (function->isImplicit() && function->getBuiltinID() != 0) return false;
    return files.in_repository(declaration->getLocation());
  }

  /// In a file whose functions are wanted.
  bool is_wanted(const clang::Decl* declaration) {
    return !options.only_files || options.only_files->contains(files.path(declaration->getLocation()));
  }

  void note_skipped(const clang::FunctionDecl* function, FunctionId id) {
    skipped.ids.push_back(id);
    if (function && function->getTemplateInstantiationPattern() && !skipped.for_local_type)
      skipped.for_local_type =
          is_for_local_type(*function, [this](const clang::Decl& local) { return is_wanted(&local); });
  }
};

}  // namespace simrt::analysis
