#include "analysis/extract/graph.h"

#include <clang/AST/StmtCXX.h>

#include "support/hash.h"

namespace simrt::analysis {

using clang::cast;
using clang::dyn_cast;
using clang::isa;

std::unique_ptr<clang::CFG> build_graph(Unit& unit, const FunctionScope& scope) {
  clang::CFG::BuildOptions options;
  options.PruneTriviallyFalseEdges = false;
  options.AddImplicitDtors = true;
  options.AddTemporaryDtors = true;
  options.AddInitializers = true;
  options.AddCXXDefaultInitExprInCtors = true;
  options.AddCXXDefaultInitExprInAggregates = true;
  options.AddStaticInitBranches = true;
  options.AddCXXNewAllocator = true;
  options.AddVirtualBaseBranches = true;
  const clang::Decl* declaration =
      scope.function ? cast<clang::Decl>(scope.function) : cast<clang::Decl>(scope.variable);
  return clang::CFG::buildCFG(declaration, const_cast<clang::Stmt*>(scope.body), &unit.context, options);
}

bool is_empty(const clang::CFGElement& element) {
  switch (element.getKind()) {
    case clang::CFGElement::ScopeBegin:
    case clang::CFGElement::ScopeEnd:
    case clang::CFGElement::LifetimeEnds:
    case clang::CFGElement::LoopExit:
    case clang::CFGElement::NewAllocator:
      return true;
    default:
      break;
  }
  const auto statement = element.getAs<clang::CFGStmt>();
  if (!statement) return false;
  if (isa<clang::NullStmt, clang::CoroutineBodyStmt>(statement->getStmt())) return true;
  const auto* declarations = dyn_cast<clang::DeclStmt>(statement->getStmt());
  return declarations &&
         llvm::none_of(declarations->decls(), [](const clang::Decl* d) { return isa<clang::VarDecl>(d); });
}

std::uint64_t terminator_hash(const clang::CFGBlock& block) {
  const clang::CFGTerminator terminator = block.getTerminator();
  if (!terminator.isValid()) return 0;
  std::uint64_t hash = hash_combine(1, terminator.getKind());
  const clang::Stmt* statement = terminator.getStmt();
  if (!statement) return hash;  // the branch around virtual bases
  hash = hash_combine(hash, statement->getStmtClass());
  if (const auto* binary = dyn_cast<clang::BinaryOperator>(statement))
    hash = hash_combine(hash, binary->getOpcode());
  if (const auto* branch = dyn_cast<clang::IfStmt>(statement))
    hash = hash_combine(hash, branch->isConstexpr());
  return hash;
}

std::uint64_t constant_branch(const clang::ASTContext& context, const clang::CFGBlock& block) {
  const auto* branch = llvm::dyn_cast_or_null<clang::IfStmt>(block.getTerminatorStmt());
  if (!branch || !branch->isConstexpr() || !branch->getCond() || branch->getCond()->isValueDependent())
    return 0;
  clang::Expr::EvalResult value;
  if (!branch->getCond()->EvaluateAsRValue(value, context)) return 0;
  constexpr std::uint64_t kConstantBranch = 0x636F6E7374;
  return hash_combine(kConstantBranch,
                      hash_bytes(value.Val.getAsString(context, branch->getCond()->getType())));
}

namespace {

EdgeKind kind_of(const clang::CFGBlock& block, unsigned index, bool throws) {
  const clang::CFGTerminator terminator = block.getTerminator();
  if (block.hasNoReturnElement()) return throws ? EdgeKind::Exception : EdgeKind::Unreachable;
  if (!terminator.isValid()) return throws ? EdgeKind::Exception : EdgeKind::FallThrough;
  if (!terminator.isStmtBranch()) return index == 0 ? EdgeKind::True : EdgeKind::False;
  const clang::Stmt* statement = terminator.getStmt();
  if (isa<clang::CXXTryStmt>(statement)) return EdgeKind::Exception;
  if (isa<clang::SwitchStmt>(statement))
    return index + 1 == block.succ_size() ? EdgeKind::Default : EdgeKind::Case;
  if (isa<clang::GotoStmt, clang::BreakStmt, clang::ContinueStmt>(statement)) return EdgeKind::FallThrough;
  if (isa<clang::IndirectGotoStmt, clang::GCCAsmStmt>(statement)) return EdgeKind::Case;
  return index == 0 ? EdgeKind::True : EdgeKind::False;
}

}  // namespace

std::vector<Edge> edges_of(const clang::CFGBlock& block, Canonical& canonical) {
  bool throws = false;
  if (!block.empty())
    if (const auto last = block.back().getAs<clang::CFGStmt>())
      throws = isa<clang::CXXThrowExpr>(last->getStmt());
  std::vector<Edge> edges;
  unsigned index = 0;
  for (const clang::CFGBlock::AdjacentBlock& successor : block.succs()) {
    const clang::CFGBlock* target = successor.getReachableBlock();
    Edge edge;
    edge.kind = kind_of(block, index, throws);
    if (!target) {
      target = successor.getPossiblyUnreachableBlock();
      edge.kind = EdgeKind::Unreachable;
    }
    if (target) {
      edge.target = target->getBlockID();
      const clang::Stmt* label = target->getLabel();
      if (edge.kind == EdgeKind::Case && label)
        edge.label = isa<clang::CaseStmt>(label) ? canonical.label(label) : index + 1;
      if (edge.kind == EdgeKind::Exception && label && isa<clang::CXXCatchStmt>(label))
        edge.label = canonical.label(label);
      edges.push_back(edge);
    }
    ++index;
  }
  return edges;
}

}  // namespace simrt::analysis
