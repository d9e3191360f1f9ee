#include "analysis/extract/ownership.h"

#include <clang/AST/ExprCXX.h>

namespace simrt::analysis {

const clang::Stmt* strip(const clang::Stmt* statement, const clang::Stmt* root, const Ownership& ownership) {
  using clang::dyn_cast;
  while (statement && !ownership.is_elsewhere(statement, root)) {
    const clang::Stmt* inner = nullptr;
    if (const auto* parens = dyn_cast<clang::ParenExpr>(statement))
      inner = parens->getSubExpr();
    else if (const auto* full = dyn_cast<clang::FullExpr>(statement))
      inner = full->getSubExpr();
    else if (const auto* materialised = dyn_cast<clang::MaterializeTemporaryExpr>(statement))
      inner = materialised->getSubExpr();
    else if (const auto* bound = dyn_cast<clang::CXXBindTemporaryExpr>(statement))
      inner = bound->getSubExpr();
    else if (const auto* value = dyn_cast<clang::SubstNonTypeTemplateParmExpr>(statement))
      inner = value->getReplacement();
    else if (const auto* choice = dyn_cast<clang::GenericSelectionExpr>(statement);
             choice && !choice->isResultDependent())
      inner = choice->getResultExpr();
    else if (const auto* chosen = dyn_cast<clang::ChooseExpr>(statement);
             chosen && !chosen->isConditionDependent())
      inner = chosen->getChosenSubExpr();
    else if (const auto* rewritten = dyn_cast<clang::CXXRewrittenBinaryOperator>(statement))
      inner = rewritten->getSemanticForm();
    else if (const auto* list = dyn_cast<clang::CXXStdInitializerListExpr>(statement))
      inner = list->getSubExpr();
    else if (const auto* extension = dyn_cast<clang::UnaryOperator>(statement);
             extension && extension->getOpcode() == clang::UO_Extension)
      inner = extension->getSubExpr();
    if (!inner) break;
    // The root itself may be a wrapper; what it wraps then stands for it.
    if (statement == root) root = inner;
    statement = inner;
  }
  return statement;
}

}  // namespace simrt::analysis
