#include "analysis/extract/points.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace simrt::analysis {

using clang::dyn_cast;
using clang::isa;

namespace {

class Collector {
 public:
  Collector(Unit& unit, const std::string& file, const Ownership& ownership)
      : unit_(unit), file_(file), ownership_(ownership) {}

  void add(clang::SourceLocation location) {
    if (location.isInvalid() || unit_.files.path(location) != file_) return;
    const SourcePoint point = unit_.files.point(location);
    if (point.line > 0) points_.push_back(point);
  }

  void statement(const clang::Stmt* s, const clang::Stmt* root) {
    if (!s || ownership_.is_elsewhere(s, root)) return;
    add(s->getBeginLoc());
    if (const auto* e = dyn_cast<clang::Expr>(s)) {
      add(e->getExprLoc());
      expression(e);
      if (isa<clang::LambdaExpr>(e)) {
        for (const clang::Expr* init : clang::cast<clang::LambdaExpr>(e)->capture_inits())
          statement(init, root);
        return;
      }
      if (const auto* argument = dyn_cast<clang::CXXDefaultArgExpr>(e))
        return statement(argument->getExpr(), root);
      if (const auto* init = dyn_cast<clang::CXXDefaultInitExpr>(e)) return statement(init->getExpr(), root);
    } else if (const auto* declarations = dyn_cast<clang::DeclStmt>(s)) {
      for (const clang::Decl* declaration : declarations->decls()) add(declaration->getLocation());
    } else if (isa<clang::CoroutineBodyStmt>(s)) {
      return;
    }
    for (const clang::Stmt* child : s->children()) statement(child, root);
  }

  /// The branch itself: its keyword and its condition's place; its parts are other blocks.
  void terminator(const clang::Stmt* s) {
    if (!s) return;
    add(s->getBeginLoc());
    if (const auto* e = dyn_cast<clang::Expr>(s)) {
      add(e->getExprLoc());
      expression(e);
    } else if (const auto* loop = dyn_cast<clang::CXXForRangeStmt>(s)) {
      add(loop->getColonLoc());
      add(loop->getRangeInit()->getBeginLoc());
    } else if (const auto* handler = dyn_cast<clang::CXXTryStmt>(s)) {
      add(handler->getTryLoc());
    }
  }

  std::vector<SourcePoint> take() {
    std::sort(points_.begin(), points_.end());
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
    return std::move(points_);
  }

 private:
  void expression(const clang::Expr* e) {
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(e))
      add(binary->getOperatorLoc());
    else if (const auto* unary = dyn_cast<clang::UnaryOperator>(e))
      add(unary->getOperatorLoc());
    else if (const auto* member = dyn_cast<clang::MemberExpr>(e))
      add(member->getMemberLoc()), add(member->getOperatorLoc());
    else if (const auto* operation = dyn_cast<clang::CXXOperatorCallExpr>(e))
      add(operation->getOperatorLoc());
    else if (const auto* conditional = dyn_cast<clang::ConditionalOperator>(e))
      add(conditional->getQuestionLoc()), add(conditional->getColonLoc());
    else if (const auto* call = dyn_cast<clang::CallExpr>(e))
      add(call->getRParenLoc());
    else if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(e))
      add(construction->getLocation());
  }

  Unit& unit_;
  const std::string& file_;
  const Ownership& ownership_;
  std::vector<SourcePoint> points_;
};

void add_element(Collector& points, const clang::CFGElement& element) {
  if (const auto s = element.getAs<clang::CFGStmt>()) {
    points.statement(s->getStmt(), s->getStmt());
  } else if (const auto init = element.getAs<clang::CFGInitializer>()) {
    points.add(init->getInitializer()->getSourceLocation());
    points.statement(init->getInitializer()->getInit(), nullptr);
  } else if (const auto automatic = element.getAs<clang::CFGAutomaticObjDtor>()) {
    if (automatic->getTriggerStmt()) points.add(automatic->getTriggerStmt()->getEndLoc());
  } else if (const auto temporary = element.getAs<clang::CFGTemporaryDtor>()) {
    points.add(temporary->getBindTemporaryExpr()->getEndLoc());
    points.add(temporary->getBindTemporaryExpr()->getBeginLoc());
  } else if (const auto deleted = element.getAs<clang::CFGDeleteDtor>()) {
    points.add(deleted->getDeleteExpr()->getBeginLoc());
  }
}

}  // namespace

std::vector<SourcePoint> points_of(Unit& unit, const FunctionScope& scope, const clang::CFG& graph,
                                   const clang::CFGBlock& block, const Ownership& ownership) {
  const clang::Decl* declaration =
      scope.function ? static_cast<const clang::Decl*>(scope.function) : scope.variable;
  const std::string file = unit.files.path(declaration->getLocation());
  Collector points(unit, file, ownership);
  for (const clang::CFGElement& element : block) add_element(points, element);
  if (const clang::Stmt* label = block.getLabel()) {
    points.add(label->getBeginLoc());
    if (const auto* handler = dyn_cast<clang::CXXCatchStmt>(label)) {
      points.add(handler->getCatchLoc());
      if (handler->getExceptionDecl()) points.add(handler->getExceptionDecl()->getLocation());
    }
  }
  points.terminator(block.getTerminatorStmt());
  if (const clang::Stmt* loop = block.getLoopTarget()) points.add(loop->getBeginLoc());
  if (&block == &graph.getEntry()) {
    points.add(declaration->getLocation());
    if (scope.body) points.add(scope.body->getBeginLoc());
    if (scope.function)
      for (const clang::ParmVarDecl* parameter : scope.function->parameters())
        points.add(parameter->getLocation());
  }
  if (&block == &graph.getExit() && scope.body) points.add(scope.body->getEndLoc());
  return points.take();
}

}  // namespace simrt::analysis
