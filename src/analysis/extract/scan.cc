// One pass over a body: numbers locals, finds lambdas and local classes, and decides which locals escape.
// A local escapes when another thread could get at it: its address is taken, bound, captured or passed on.
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/ADT/StringSwitch.h>

#include "analysis/extract/collect.h"

namespace simrt::analysis {
namespace {

using clang::dyn_cast;
using clang::isa;

class Scanner {
 public:
  Scanner(Unit& unit, FunctionScope& scope) : unit_(unit), scope_(scope) {}

  /// `exposed`: an lvalue here lets its address go to somebody else.
  void visit(const clang::Stmt* statement, bool exposed);
  void declare(const clang::VarDecl* variable);

 private:
  void visit_children(const clang::Stmt* statement, bool exposed) {
    for (const clang::Stmt* child : statement->children()) visit(child, exposed);
  }
  void visit_declarations(const clang::DeclStmt* statement);
  void visit_lambda(const clang::LambdaExpr* lambda);
  void visit_call(const clang::CallExpr* call);
  void visit_construction(const clang::CXXConstructExpr* construction);
  bool visit_expression(const clang::Expr* expression, bool exposed);
  void expose(const clang::ValueDecl* variable);

  Unit& unit_;
  FunctionScope& scope_;
};

void Scanner::declare(const clang::VarDecl* variable) {
  const bool is_static = variable->isStaticLocal();
  scope_.add_local(variable, {name_of_local(variable), unit_.names.type_hash(variable->getType()), false,
                              is_static, is_static});
  unit_.owner[variable] = &scope_;
}

/// Marks the local, and every by-reference capture on the way to it, as reachable by others.
void Scanner::expose(const clang::ValueDecl* variable) {
  for (FunctionScope* scope = &scope_; scope; scope = scope->parent) {
    if (const auto ordinal = scope->ordinal_of(variable)) scope->locals[*ordinal].escapes = true;
    const auto capture = scope->capture_of(variable);
    if (!capture || !scope->captures[*capture].by_reference) return;
  }
}

void Scanner::visit_declarations(const clang::DeclStmt* statement) {
  for (const clang::Decl* declaration : statement->decls()) {
    if (const auto* variable = dyn_cast<clang::VarDecl>(declaration)) {
      if (variable->isLocalVarDecl() && !variable->hasExternalStorage()) declare(variable);
      if (const auto* decomposition = dyn_cast<clang::DecompositionDecl>(variable))
        for (const clang::BindingDecl* binding : decomposition->bindings())
          if (const clang::VarDecl* holder = binding->getHoldingVar()) {
            declare(holder);
            visit(holder->getInit(), false);
          }
      // The hidden reference of a range-for dies with the loop.
      if (const clang::Expr* init = variable->getInit())
        visit(init, variable->getType()->isReferenceType() && !variable->isImplicit());
    } else if (const auto* record = dyn_cast<clang::CXXRecordDecl>(declaration)) {
      if (record->isThisDeclarationADefinition()) collect_members(unit_, record, &scope_);
    }
  }
}

void Scanner::visit_lambda(const clang::LambdaExpr* lambda) {
  auto init = lambda->capture_init_begin();
  for (const clang::LambdaCapture& capture : lambda->captures()) {
    if (capture.capturesVariable() && capture.getCapturedVar()->isInitCapture()) {
      visit(clang::cast<clang::VarDecl>(capture.getCapturedVar())->getInit(),
            capture.getCaptureKind() == clang::LCK_ByRef);
    } else if (capture.capturesVariable()) {
      if (capture.getCaptureKind() == clang::LCK_ByRef)
        expose(capture.getCapturedVar());
      else if (*init)
        visit(*init, false);
    }
    ++init;
  }
  collect_lambda(unit_, lambda, scope_);
}

void Scanner::visit_call(const clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  const bool harmless = callee && keeps_no_address(unit_, callee);
  unsigned first_argument = 0;
  if (const auto* member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
    const auto* callee_expression = dyn_cast<clang::MemberExpr>(member->getCallee()->IgnoreParens());
    const clang::CXXMethodDecl* method = member->getMethodDecl();
    // The object of a library member function stays where it is; our own methods may hand out `this`.
    if (callee_expression)
      visit(callee_expression->getBase(), method && unit_.in_repository(method));
    else
      visit(member->getCallee(), true);
  } else if (isa<clang::CXXOperatorCallExpr>(call) && callee && isa<clang::CXXMethodDecl>(callee)) {
    const bool lambda_call = clang::cast<clang::CXXMethodDecl>(callee)->getParent()->isLambda();
    visit(call->getArg(0), unit_.in_repository(callee) && !lambda_call);
    first_argument = 1;
  } else {
    visit(call->getCallee(), false);
  }
  for (unsigned i = first_argument; i < call->getNumArgs(); ++i) visit(call->getArg(i), !harmless);
}

void Scanner::visit_construction(const clang::CXXConstructExpr* construction) {
  const clang::CXXConstructorDecl* constructor = construction->getConstructor();
  const bool copies = constructor->isCopyOrMoveConstructor() &&
                      (constructor->isDefaulted() || !unit_.in_repository(constructor));
  const LibraryClass known = unit_.library.classify(constructor->getParent());
  const bool guard = known == LibraryClass::Guard || known == LibraryClass::SharedGuard;
  for (const clang::Expr* argument : construction->arguments()) visit(argument, !copies && !guard);
}

/// True when the expression is dealt with.
bool Scanner::visit_expression(const clang::Expr* expression, bool exposed) {
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(expression)) {
    const clang::ValueDecl* target = reference->getDecl();
    if (const auto* binding = dyn_cast<clang::BindingDecl>(target))
      target = clang::cast<clang::ValueDecl>(binding->getDecomposedDecl());
    if (exposed && expression->isGLValue() && !target->getType()->isReferenceType()) expose(target);
  } else if (const auto* lambda = dyn_cast<clang::LambdaExpr>(expression)) {
    visit_lambda(lambda);
  } else if (const auto* call = dyn_cast<clang::CallExpr>(expression)) {
    visit_call(call);
  } else if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(expression)) {
    visit_construction(construction);
  } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(expression)) {
    visit(unary->getSubExpr(), unary->getOpcode() == clang::UO_AddrOf);
  } else if (const auto* binary = dyn_cast<clang::BinaryOperator>(expression)) {
    visit(binary->getLHS(), exposed && binary->isAssignmentOp());
    visit(binary->getRHS(), exposed && binary->getOpcode() == clang::BO_Comma);
  } else if (const auto* cast = dyn_cast<clang::CastExpr>(expression)) {
    const clang::CastKind kind = cast->getCastKind();
    const bool reads = kind == clang::CK_LValueToRValue || kind == clang::CK_ToVoid;
    visit(cast->getSubExpr(), kind == clang::CK_ArrayToPointerDecay ? exposed : exposed && !reads);
  } else if (const auto* subscript = dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    visit(subscript->getBase(), exposed);
    visit(subscript->getIdx(), false);
  } else if (isa<clang::UnaryExprOrTypeTraitExpr>(expression) || isa<clang::CXXNoexceptExpr>(expression)) {
    // unevaluated
  } else if (const auto* inits = dyn_cast<clang::InitListExpr>(expression)) {
    for (const clang::Expr* init : inits->inits()) visit(init, init->isGLValue());
  } else if (const auto* conditional = dyn_cast<clang::AbstractConditionalOperator>(expression)) {
    visit(conditional->getCond(), false);
    visit(conditional->getTrueExpr(), exposed);
    visit(conditional->getFalseExpr(), exposed);
  } else {
    if (isa<clang::RecoveryExpr>(expression)) scope_.flags |= kBroken;
    return false;
  }
  return true;
}

void Scanner::visit(const clang::Stmt* statement, bool exposed) {
  if (!statement) return;
  if (const auto* expression = dyn_cast<clang::Expr>(statement)) {
    if (!visit_expression(expression, exposed)) visit_children(statement, exposed && expression->isGLValue());
    return;
  }
  if (const auto* declarations = dyn_cast<clang::DeclStmt>(statement))
    return visit_declarations(declarations);
  if (const auto* handler = dyn_cast<clang::CXXCatchStmt>(statement))
    if (const clang::VarDecl* exception = handler->getExceptionDecl()) declare(exception);
  if (const auto* result = dyn_cast<clang::ReturnStmt>(statement)) {
    const clang::Expr* value = result->getRetValue();
    return visit(value, value && value->isGLValue());
  }
  if (const auto* coroutine = dyn_cast<clang::CoroutineBodyStmt>(statement)) {
    // The copies of the parameters in the frame are invisible elsewhere; the body and the awaits are what
    // counts.
    for (const clang::Stmt* child : coroutine->children()) visit(child, false);
    return;
  }
  visit_children(statement, false);
}

}  // namespace

bool keeps_no_address(Unit& unit, const clang::FunctionDecl* function) {
  if (unit.in_repository(function) || !function->getDeclName().isIdentifier())
    return !unit.in_repository(function) && function->isOverloadedOperator();
  if (function->getBuiltinID() != 0) return true;
  return llvm::StringSwitch<bool>(function->getName())
      .Cases("move", "forward", "as_const", "min", "max", "swap", "exchange", "get", "clamp", true)
      .Cases("move_if_noexcept", "make_pair", "make_tuple", "to_string", "getline", true)
      .Cases("read", "write", "recv", "send", "pread", "pwrite", "stat", "fstat", "fread", "fwrite", true)
      .Cases("snprintf", "vsnprintf", "sprintf", "printf", "fprintf", "scanf", "sscanf", "fscanf", true)
      .Cases("gettimeofday", "clock_gettime", "nanosleep", "localtime_r", "gmtime_r", "time", true)
      .Cases("push_back", "push", "insert", "append", "assign", true)
      .Cases("find", "count", "erase", "at", "contains", "compare", "insert_or_assign", true)
      .Cases("lower_bound", "upper_bound", "equal", "accumulate", "all_of", "any_of", "none_of", true)
      .Default(false);
}

void scan_body(Unit& unit, FunctionScope& scope) {
  Scanner scanner(unit, scope);
  if (const auto* constructor = llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(scope.function))
    for (const clang::CXXCtorInitializer* initializer : constructor->inits())
      scanner.visit(initializer->getInit(), initializer->isAnyMemberInitializer() &&
                                                initializer->getAnyMember()->getType()->isReferenceType());
  scanner.visit(scope.body, false);
}

}  // namespace simrt::analysis
