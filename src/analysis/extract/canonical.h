// Location-free hash of one CFG element. Comments, white space, moved code and renamed locals leave it equal;
// anything that can change what the code does changes it.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/Analysis/CFG.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/extract/ownership.h"
#include "analysis/extract/unit.h"

namespace simrt::analysis {

class Canonical {
 public:
  Canonical(Unit& unit, const FunctionScope& scope, const Ownership& ownership)
      : unit_(unit), scope_(scope), ownership_(ownership) {}

  struct Result {
    std::uint64_t hash = 0;
    std::vector<std::uint32_t> locals;         ///< behind the placeholders, in order of appearance
    std::vector<const clang::Stmt*> consumed;  ///< other elements whose value this one uses
  };
  Result element(const clang::CFGElement& element);
  Result statement(const clang::Stmt* statement);
  /// Hash of a case label's values, or of the type that a handler catches.
  std::uint64_t label(const clang::Stmt* label);

 private:
  void put(std::uint64_t value);
  void put(std::string_view text);
  void put(clang::QualType type) { put(unit_.names.type_hash(type)); }
  void visit(const clang::Stmt* statement);
  void children(const clang::Stmt* statement);
  void expression(const clang::Expr* expression);
  bool literal(const clang::Expr* expression);
  bool reference(const clang::Expr* expression);
  bool allocation(const clang::Expr* expression);
  bool query(const clang::Expr* expression);
  bool dependent(const clang::Expr* expression);
  void string(const clang::StringLiteral* literal);
  void lambda(const clang::LambdaExpr* lambda);
  void declarations(const clang::DeclStmt* statement);
  void initializer(const clang::CXXCtorInitializer* initializer);
  void assembly(const clang::GCCAsmStmt* assembly);
  void constant(const clang::Expr* expression);
  void local(std::uint32_t ordinal);
  void declaration(const clang::ValueDecl* declaration);
  void variable(const clang::VarDecl* variable);
  void function(const clang::FunctionDecl* function);
  Result take();

  Unit& unit_;
  const FunctionScope& scope_;
  const Ownership& ownership_;
  const clang::Stmt* root_ = nullptr;
  unsigned depth_ = 0;
  Result result_;
};

/// Hash of a function's thread-safety attributes (serialised by their arguments), 0 without any.
std::uint64_t thread_safety_hash(Unit& unit, const FunctionScope& scope, const clang::FunctionDecl* function);

}  // namespace simrt::analysis
