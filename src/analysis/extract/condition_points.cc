#include "analysis/extract/condition_points.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>
#include <map>
#include <utility>

namespace simrt::analysis {

using clang::dyn_cast;

namespace {

const clang::BinaryOperator* short_circuit(const clang::Stmt* s) {
  const auto* binary = clang::dyn_cast_or_null<clang::BinaryOperator>(s);
  return binary && binary->isLogicalOp() ? binary : nullptr;
}

/// Without what changes the value of a condition but not its flow.
const clang::Expr* bare(const clang::Expr* e) {
  for (;;) {
    const clang::Expr* inner = e->IgnoreParenImpCasts();
    const auto* negation = dyn_cast<clang::UnaryOperator>(inner);
    if (negation && negation->getOpcode() == clang::UO_LNot) inner = negation->getSubExpr();
    if (inner == e) return e;
    e = inner;
  }
}

/// The operator behind the first operand of all; null when the condition does not start with a short circuit.
const clang::BinaryOperator* first_operator(const clang::Expr* condition) {
  const clang::BinaryOperator* first = nullptr;
  while (condition) {
    const clang::BinaryOperator* next = short_circuit(bare(condition));
    if (!next) break;
    first = next;
    condition = next->getLHS();
  }
  return first;
}

/// `!(a || b)`: its value is computed behind the operands.
bool is_negation(const clang::Expr* condition) {
  const auto* outer = dyn_cast<clang::UnaryOperator>(condition->IgnoreParenImpCasts());
  return outer && outer->getOpcode() == clang::UO_LNot && short_circuit(bare(outer->getSubExpr()));
}

class ConditionPoints {
 public:
  ConditionPoints(Unit& unit, const FunctionScope& scope, std::vector<BlockPoints>& blocks)
      : unit_(unit), blocks_(blocks) {
    const clang::Decl* declaration =
        scope.function ? static_cast<const clang::Decl*>(scope.function) : scope.variable;
    file_ = unit.files.path(declaration->getLocation());
    body_ = scope.body;
  }

  void place(const clang::CFG& graph) {
    std::map<const clang::Stmt*, std::uint32_t> ended_by;
    for (const clang::CFGBlock* block : graph)
      if (const clang::BinaryOperator* operation = short_circuit(block->getTerminatorStmt()))
        ended_by[operation] = block->getBlockID();
    if (ended_by.empty()) return;
    find_negations(body_);
    for (const clang::CFGBlock* block : graph) {
      const clang::Stmt* terminator = block->getTerminatorStmt();
      const clang::BinaryOperator* first = first_operator(condition_of(terminator));
      const auto found = ended_by.find(first);
      if (first && found != ended_by.end() && found->second != block->getBlockID())
        move_branch(terminator, block->getBlockID(), found->second);
    }
    for (const clang::CFGBlock* block : graph)
      if (const clang::BinaryOperator* operation = short_circuit(block->getTerminatorStmt()))
        add_operand(*block, operation);
  }

 private:
  static const clang::Expr* condition_of(const clang::Stmt* terminator) {
    if (!terminator) return nullptr;
    if (const auto* s = dyn_cast<clang::IfStmt>(terminator)) return s->getCond();
    if (const auto* s = dyn_cast<clang::WhileStmt>(terminator)) return s->getCond();
    if (const auto* s = dyn_cast<clang::ForStmt>(terminator)) return s->getCond();
    if (const auto* s = dyn_cast<clang::ConditionalOperator>(terminator)) return s->getCond();
    return nullptr;
  }

  /// gcc makes `!a && !b` of `!(a || b)`, with the place of the negation.
  void find_negations(const clang::Stmt* s) {
    if (!s) return;
    if (const auto* negation = dyn_cast<clang::UnaryOperator>(s))
      if (negation->getOpcode() == clang::UO_LNot)
        if (const clang::BinaryOperator* operation = short_circuit(bare(negation->getSubExpr())))
          negations_[operation] = negation->getOperatorLoc();
    for (const clang::Stmt* child : s->children()) find_negations(child);
  }

  /// The second operand's block has the operator's position, too.
  void add_operand(const clang::CFGBlock& block, const clang::BinaryOperator* operation) {
    const bool on_true = operation->getOpcode() == clang::BO_LAnd;
    if (block.succ_size() != 2) return;
    const clang::CFGBlock::AdjacentBlock& edge = *(block.succ_begin() + (on_true ? 0 : 1));
    const clang::CFGBlock* second =
        edge.getReachableBlock() ? edge.getReachableBlock() : edge.getPossiblyUnreachableBlock();
    BlockPoints* points = second ? points_of(second->getBlockID()) : nullptr;
    if (!points) return;
    if (points->gcc_points.empty()) points->gcc_points = points->points;
    add(points->gcc_points, operation->getOperatorLoc());
    if (const auto found = negations_.find(operation); found != negations_.end())
      add(points->gcc_points, found->second);
  }

  void move_branch(const clang::Stmt* terminator, std::uint32_t last, std::uint32_t first) {
    BlockPoints* from = points_of(last);
    BlockPoints* to = points_of(first);
    if (!from || !to) return;
    const auto move = [&](clang::SourceLocation location) {
      if (location.isInvalid() || unit_.files.path(location) != file_) return;
      std::erase(from->points, unit_.files.point(location));
      add(to->points, location);
    };
    move(terminator->getBeginLoc());
    if (is_negation(condition_of(terminator))) {
      // Clang's CFG joins the operands for the `!`; no compiler does. The join takes what its dominator has.
      for (SourcePoint point : std::exchange(from->points, {})) insert(to->points, point);
      return;
    }
    if (const auto* choice = dyn_cast<clang::ConditionalOperator>(terminator)) {
      move(choice->getQuestionLoc());
      move(choice->getColonLoc());
    }
  }

  void add(std::vector<SourcePoint>& points, clang::SourceLocation location) {
    if (location.isInvalid() || unit_.files.path(location) != file_) return;
    insert(points, unit_.files.point(location));
  }

  static void insert(std::vector<SourcePoint>& points, SourcePoint point) {
    const auto place = std::lower_bound(points.begin(), points.end(), point);
    if (point.line > 0 && (place == points.end() || *place != point)) points.insert(place, point);
  }

  BlockPoints* points_of(std::uint32_t ordinal) {
    const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                    [ordinal](const BlockPoints& block) { return block.ordinal == ordinal; });
    return found == blocks_.end() ? nullptr : &*found;
  }

  Unit& unit_;
  std::vector<BlockPoints>& blocks_;
  std::string file_;  // of the function
  const clang::Stmt* body_ = nullptr;
  std::map<const clang::Stmt*, clang::SourceLocation> negations_;
};

}  // namespace

void place_conditions(Unit& unit, const FunctionScope& scope, const clang::CFG& graph,
                      std::vector<BlockPoints>& blocks) {
  ConditionPoints(unit, scope, blocks).place(graph);
}

}  // namespace simrt::analysis
