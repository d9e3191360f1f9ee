#include "analysis/extract/canonical.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Lex/Lexer.h>

#include "support/hash.h"

namespace simrt::analysis {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Tokens beside Clang's own statement classes; far above their numbers.
enum Token : std::uint64_t {
  kNull = 1u << 20,
  kOwned,
  kEnd,
  kInitializer,
  kAutomaticDtor,
  kDeleteDtor,
  kBaseDtor,
  kMemberDtor,
  kTemporaryDtor,
  kAllocator,
  kCleanup,
  kConstant,
  kTooDeep,
  kHandler
};

/// Enough for hand-written code; generated initialisers of any length are wide, not deep.
constexpr unsigned kMaxDepth = 400;

}  // namespace

void Canonical::put(std::uint64_t value) { result_.hash = hash_combine(result_.hash, value); }
void Canonical::put(std::string_view text) { put(hash_bytes(text)); }

Canonical::Result Canonical::take() {
  Result result = std::move(result_);
  result_ = {};
  root_ = nullptr;
  return result;
}

Canonical::Result Canonical::statement(const clang::Stmt* statement) {
  root_ = statement;
  visit(statement);
  return take();
}

std::uint64_t Canonical::label(const clang::Stmt* label) {
  root_ = label;
  if (const auto* value = dyn_cast<clang::CaseStmt>(label)) {
    constant(value->getLHS());
    if (value->getRHS()) constant(value->getRHS());
  } else if (const auto* handler = dyn_cast<clang::CXXCatchStmt>(label)) {
    put(kHandler);
    put(handler->getCaughtType());
  }
  return take().hash;
}

Canonical::Result Canonical::element(const clang::CFGElement& element) {
  switch (element.getKind()) {
    case clang::CFGElement::Statement:
    case clang::CFGElement::Constructor:
    case clang::CFGElement::CXXRecordTypedCall:
      return statement(element.castAs<clang::CFGStmt>().getStmt());
    case clang::CFGElement::Initializer:
      initializer(element.castAs<clang::CFGInitializer>().getInitializer());
      break;
    case clang::CFGElement::AutomaticObjectDtor:
      put(kAutomaticDtor);
      declaration(element.castAs<clang::CFGAutomaticObjDtor>().getVarDecl());
      break;
    case clang::CFGElement::CleanupFunction:
      put(kCleanup);
      declaration(element.castAs<clang::CFGCleanupFunction>().getVarDecl());
      function(element.castAs<clang::CFGCleanupFunction>().getFunctionDecl());
      break;
    case clang::CFGElement::DeleteDtor:
      put(kDeleteDtor);
      put(element.castAs<clang::CFGDeleteDtor>().getDeleteExpr()->getDestroyedType());
      break;
    case clang::CFGElement::BaseDtor:
      put(kBaseDtor);
      put(element.castAs<clang::CFGBaseDtor>().getBaseSpecifier()->getType());
      break;
    case clang::CFGElement::MemberDtor:
      put(kMemberDtor);
      declaration(element.castAs<clang::CFGMemberDtor>().getFieldDecl());
      break;
    case clang::CFGElement::TemporaryDtor:
      put(kTemporaryDtor);
      put(element.castAs<clang::CFGTemporaryDtor>().getBindTemporaryExpr()->getType());
      break;
    default:
      put(kAllocator);
      break;
  }
  return take();
}

void Canonical::initializer(const clang::CXXCtorInitializer* initializer) {
  put(kInitializer);
  if (initializer->isAnyMemberInitializer())
    declaration(initializer->getAnyMember());
  else if (initializer->getTypeSourceInfo())
    put(initializer->getTypeSourceInfo()->getType());
  root_ = nullptr;
  visit(initializer->getInit());
}

void Canonical::visit(const clang::Stmt* statement) {
  statement = strip(statement, root_, ownership_);
  if (!statement) return put(kNull);
  if (root_ && depth_ == 0) root_ = statement;  // a stripped root stands for itself
  if (ownership_.is_elsewhere(statement, root_)) {
    put(kOwned);
    result_.consumed.push_back(statement);
    return;
  }
  if (depth_ >= kMaxDepth) {
    // Its text stands for it: sensitive to formatting, but no change is lost.
    put(kTooDeep);
    const auto range = clang::CharSourceRange::getTokenRange(statement->getSourceRange());
    return put(std::string_view(
        clang::Lexer::getSourceText(range, unit_.context.getSourceManager(), unit_.context.getLangOpts())));
  }
  ++depth_;
  if (const auto* e = dyn_cast<clang::Expr>(statement)) {
    expression(e);
  } else if (const auto* declared = dyn_cast<clang::DeclStmt>(statement)) {
    declarations(declared);
  } else if (const auto* asm_statement = dyn_cast<clang::GCCAsmStmt>(statement)) {
    assembly(asm_statement);
  } else if (isa<clang::CoroutineBodyStmt>(statement)) {
    put(statement->getStmtClass());  // its parts are elements of their own
  } else {
    put(statement->getStmtClass());
    children(statement);
  }
  put(kEnd);
  --depth_;
}

void Canonical::children(const clang::Stmt* statement) {
  for (const clang::Stmt* child : statement->children()) visit(child);
}

void Canonical::expression(const clang::Expr* e) {
  if (dependent(e)) return;
  put(e->getStmtClass());
  if (!isa<clang::StringLiteral, clang::PredefinedExpr>(e))
    put(e->getType());  // their length is no type of ours
  if (literal(e) || reference(e) || allocation(e) || query(e)) return;
  if (const auto* conversion = dyn_cast<clang::CastExpr>(e))
    put(conversion->getCastKind());
  else if (const auto* unary = dyn_cast<clang::UnaryOperator>(e))
    put(unary->getOpcode());
  else if (const auto* binary = dyn_cast<clang::BinaryOperator>(e))
    put(binary->getOpcode());
  else if (const auto* fold = dyn_cast<clang::CXXFoldExpr>(e))
    put(fold->getOperator());
  else if (const auto* atomic = dyn_cast<clang::AtomicExpr>(e))
    put(atomic->getOp());
  else if (const auto* call = dyn_cast<clang::CXXOperatorCallExpr>(e))
    put(call->getOperator());
  if (const auto* object = dyn_cast<clang::LambdaExpr>(e)) return lambda(object);
  if (const auto* argument = dyn_cast<clang::CXXDefaultArgExpr>(e)) return visit(argument->getExpr());
  if (const auto* init = dyn_cast<clang::CXXDefaultInitExpr>(e)) return visit(init->getExpr());
  children(e);
}

void Canonical::constant(const clang::Expr* e) {
  clang::Expr::EvalResult value;
  if (!e->isValueDependent() && !e->isTypeDependent() && e->EvaluateAsRValue(value, unit_.context)) {
    put(kConstant);
    put(value.Val.getAsString(unit_.context, e->getType()));
  } else {
    visit(e);
  }
}

void Canonical::declarations(const clang::DeclStmt* statement) {
  put(statement->getStmtClass());
  for (const clang::Decl* d : statement->decls()) {
    const auto* declared = dyn_cast<clang::VarDecl>(d);
    if (!declared) continue;  // types, aliases and static_assert do nothing
    declaration(declared);
    put(declared->getType());
    put(static_cast<std::uint64_t>(declared->getStorageClass()));
    put(static_cast<std::uint64_t>(declared->getTLSKind()));
    put(declared->isConstexpr());
    if (const auto* decomposition = dyn_cast<clang::DecompositionDecl>(declared))
      put(decomposition->bindings().size());
    visit(declared->getInit());
  }
}

void Canonical::lambda(const clang::LambdaExpr* object) {
  // The body is a function of its own; here stands what its creation does.
  put(static_cast<std::uint64_t>(object->isMutable()));
  auto init = object->capture_init_begin();
  for (const clang::LambdaCapture& capture : object->captures()) {
    put(static_cast<std::uint64_t>(capture.getCaptureKind()));
    if (capture.capturesVariable() && capture.getCapturedVar()->isInitCapture())
      put(capture.getCapturedVar()->getType());
    else if (capture.capturesVariable() && capture.getCaptureKind() == clang::LCK_ByRef)
      declaration(capture.getCapturedVar());
    if (*init && !(capture.capturesVariable() && capture.getCaptureKind() == clang::LCK_ByRef &&
                   !capture.getCapturedVar()->isInitCapture()))
      visit(*init);
    ++init;
  }
  put(object->getCallOperator()->getType());
}

void Canonical::assembly(const clang::GCCAsmStmt* code) {
  put(code->getStmtClass());
  put(code->getAsmString()->getString());
  put(code->isVolatile());
  for (unsigned i = 0; i < code->getNumOutputs(); ++i) put(code->getOutputConstraint(i));
  for (unsigned i = 0; i < code->getNumInputs(); ++i) put(code->getInputConstraint(i));
  for (unsigned i = 0; i < code->getNumClobbers(); ++i) put(code->getClobber(i));
  children(code);
}

}  // namespace simrt::analysis
