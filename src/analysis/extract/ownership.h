// Which statements are CFG elements of their own. A sub-expression that is one belongs to that element:
// whoever meets it inside a larger expression treats it as an already computed value.
#pragma once

#include <clang/AST/Expr.h>
#include <clang/Analysis/CFG.h>
#include <llvm/ADT/DenseSet.h>

namespace simrt::analysis {

class Ownership {
 public:
  explicit Ownership(const clang::CFG& graph) {
    for (const clang::CFGBlock* block : graph)
      for (const clang::CFGElement& element : *block)
        if (const auto statement = element.getAs<clang::CFGStmt>()) owned_.insert(statement->getStmt());
  }
  Ownership() = default;

  /// True when `statement` is an element of its own and not the one being looked at.
  bool is_elsewhere(const clang::Stmt* statement, const clang::Stmt* root) const {
    return statement != root && owned_.contains(statement);
  }

 private:
  llvm::DenseSet<const clang::Stmt*> owned_;
};

/// The expression without parentheses, full-expression markers and the like; stops at `ownership`'s elements.
const clang::Stmt* strip(const clang::Stmt* statement, const clang::Stmt* root, const Ownership& ownership);

}  // namespace simrt::analysis
