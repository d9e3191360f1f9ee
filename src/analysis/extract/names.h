// Stable names: identities (USRs without file offsets), display names and canonical types of declarations.
// Clang's own USRs are used where they are stable; local, anonymous and instantiated entities get names
// built from their context, because Clang's hold file offsets there.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/PrettyPrinter.h>
#include <llvm/ADT/DenseMap.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/extract/files.h"

namespace simrt::analysis {

class Names {
 public:
  Names(clang::ASTContext& context, Files& files, std::string unit_path);

  /// Identity of a function, variable, field or type. Fields and static members are those of the template
  /// pattern.
  const std::string& usr(const clang::Decl* declaration);
  /// hash of usr() in which lambdas carry no ordinal: an inserted lambda renames nobody.
  std::uint64_t usr_hash(const clang::Decl* declaration);
  /// USR of the default constructor, whether or not this unit had a reason to declare one that is not
  /// written.
  std::string default_constructor_usr(const clang::CXXRecordDecl* record);
  /// Of the destructor, also of a class that this unit only declares.
  std::string destructor_usr(const clang::CXXRecordDecl* record);
  /// Names a closure that stands in no function (initialisers). Those in functions are named on demand, by
  /// their order in the function's body.
  void name_closure(const clang::CXXRecordDecl* closure, std::string usr);

  /// Qualified, with template arguments; with parameter types where the name is overloaded.
  const std::string& display(const clang::NamedDecl* declaration);
  /// Canonical spelling, location-free.
  std::string type_name(clang::QualType type) const;
  std::uint64_t type_hash(clang::QualType type);
  /// Mangled names the object code can have; empty for what has no code of its own (templates, dependent).
  std::vector<std::string> linkage_names(const clang::FunctionDecl* function);

 private:
  std::string make_display(const clang::NamedDecl* declaration);
  std::string make_usr(const clang::Decl* declaration);
  void name_closures_of(const clang::FunctionDecl* function);
  std::string function_usr(const clang::FunctionDecl* function);
  std::string clang_usr(const clang::Decl* declaration);
  std::string nested_usr(const clang::NamedDecl* declaration);
  std::string undeclared_member_usr(const clang::CXXRecordDecl* record, const char* role,
                                    const std::string& name);
  std::string arguments(const clang::FunctionDecl* function);
  std::string argument_text(llvm::ArrayRef<clang::TemplateArgument> arguments);
  std::string identity_of_type(clang::QualType type);

  Files& files_;
  std::string unit_path_;
  clang::PrintingPolicy policy_;
  std::unordered_map<const clang::Decl*, std::string> usrs_;  // node-based: usr() hands out references
  std::unordered_map<const clang::Decl*, std::string> displays_;
  clang::ASTNameGenerator mangler_;
  llvm::DenseMap<const clang::Decl*, std::uint64_t> usr_hashes_;
  llvm::DenseMap<const clang::CXXRecordDecl*, std::string> closures_;
  llvm::DenseMap<const void*, std::uint64_t> type_hashes_;
};

/// As written; what the compiler declares for a range-based for without its number, which tells how deep the
/// loop stands and so differs between a template and its instantiations.
std::string name_of_local(const clang::ValueDecl* local);

/// `usr` with every "/lambda#<ordinal>" as "/lambda".
std::string without_lambda_ordinals(std::string_view usr);

}  // namespace simrt::analysis
