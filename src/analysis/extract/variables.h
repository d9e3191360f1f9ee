// Identities of variables and the facts about those that events mention.
#pragma once

#include <clang/AST/Decl.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/extract/files.h"
#include "analysis/extract/library.h"
#include "analysis/extract/names.h"
#include "model/facts.h"

namespace simrt::analysis {

struct FunctionScope;

/// Ids are given out freely; facts are made at the end for those that were used.
class Variables {
 public:
  Variables(Names& names, Files& files, Library& library) : names_(names), files_(files), library_(library) {}

  /// A global, static local, static member or field.
  VariableId shared(const clang::ValueDecl* declaration);
  /// Local number `ordinal` of `scope` (not a static one); parameters by parameter_of.
  VariableId local(const FunctionScope& scope, std::uint32_t ordinal);
  VariableId receiver(const FunctionScope& scope);
  VariableId result(const clang::FunctionDecl* function);
  /// Parameter of a function that may have no body here.
  VariableId parameter(const clang::FunctionDecl* function, unsigned index);
  VariableId receiver(const clang::CXXMethodDecl* method);
  /// Temporary `ordinal` of `scope`: a guard that no variable holds.
  VariableId temporary(const FunctionScope& scope, std::uint32_t ordinal);

  /// Facts of every variable whose id stands in `mentioned` (ascending, unique), in that order.
  std::vector<VariableFacts> facts(const std::vector<VariableId>& mentioned);

 private:
  struct Origin {
    VariableKind kind = VariableKind::Global;
    const clang::ValueDecl* declaration = nullptr;
    const clang::FunctionDecl* function = nullptr;
    const FunctionScope* scope = nullptr;
  };
  VariableId remember(VariableId id, Origin origin);
  std::string name_of(const Origin& origin);
  std::uint64_t shares(const clang::FieldDecl* field);
  std::uint16_t traits_of(const clang::ValueDecl* declaration, clang::QualType type);

  Names& names_;
  Files& files_;
  Library& library_;
  std::unordered_map<VariableId, Origin> origins_;
  llvm::DenseMap<const clang::Decl*, VariableId> ids_;
};

}  // namespace simrt::analysis
