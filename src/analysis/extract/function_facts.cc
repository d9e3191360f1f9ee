#include "analysis/extract/function_facts.h"

#include <clang/AST/StmtCXX.h>

#include <algorithm>

#include "analysis/extract/canonical.h"
#include "analysis/extract/condition_points.h"
#include "analysis/extract/evaluator.h"
#include "analysis/extract/graph.h"
#include "analysis/extract/points.h"
#include "analysis/extract/prototype.h"
#include "support/hash.h"

namespace simrt::analysis {

using clang::dyn_cast;
using clang::isa;

namespace {

/// Hashes of elements that no statement stands for.
constexpr std::uint64_t kEntryHash = 0x656E747279, kStaticInitHash = 0x696E6974;

void sort_unique(std::vector<std::uint32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

class Builder {
 public:
  Builder(Unit& unit, FunctionScope& scope) : unit_(unit), scope_(scope) {}

  void build(FunctionFacts& facts, FunctionPoints& points);

 private:
  void build_without_graph(FunctionFacts& facts, FunctionPoints& points);
  Block block(const clang::CFGBlock& source, Canonical& canonical, Evaluator& evaluator);
  clang::SourceLocation location_of(const clang::CFGElement& element) const;
  SourcePoint place_of(const clang::CFGElement& element) const;
  std::uint32_t temporary(const clang::Stmt* statement);
  void add_static_init(FunctionFacts& facts, const clang::CFG& graph, Evaluator& evaluator);
  void define_temporaries(FunctionFacts& facts);

  Unit& unit_;
  FunctionScope& scope_;
  llvm::DenseMap<const clang::Stmt*, std::uint32_t> temporaries_;
  struct Produced {
    std::size_t block, element;
    const clang::Stmt* statement;
  };
  std::vector<Produced> produced_;
  std::size_t current_block_ = 0;
};

std::uint32_t Builder::temporary(const clang::Stmt* statement) {
  const auto [entry, fresh] = temporaries_.try_emplace(statement, 0);
  if (fresh) {
    entry->second = static_cast<std::uint32_t>(scope_.locals.size());
    const auto* e = dyn_cast<clang::Expr>(statement);
    scope_.locals.push_back({"", e ? unit_.names.type_hash(e->getType()) : 0, false, false, false});
  }
  return entry->second;
}

/// Code from elsewhere (default arguments, default member initialisers) counts as where the function stands.
SourcePoint Builder::place_of(const clang::CFGElement& element) const {
  const clang::Decl* declaration = scope_.declaration();
  const clang::SourceLocation location = location_of(element);
  const bool here =
      location.isValid() && unit_.files.path(location) == unit_.files.path(declaration->getLocation());
  return unit_.files.point(here ? location : declaration->getLocation());
}

clang::SourceLocation Builder::location_of(const clang::CFGElement& element) const {
  if (const auto s = element.getAs<clang::CFGStmt>()) {
    const clang::Stmt* statement = s->getStmt();
    if (const auto* e = dyn_cast<clang::Expr>(statement)) return e->getExprLoc();
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(statement);
        declarations && declarations->isSingleDecl())
      return declarations->getSingleDecl()->getLocation();
    return statement->getBeginLoc();
  }
  if (const auto init = element.getAs<clang::CFGInitializer>()) {
    const clang::CXXCtorInitializer* initializer = init->getInitializer();
    return initializer->isWritten() ? initializer->getSourceLocation() : scope_.function->getLocation();
  }
  if (const auto automatic = element.getAs<clang::CFGAutomaticObjDtor>();
      automatic && automatic->getTriggerStmt())
    return automatic->getTriggerStmt()->getEndLoc();
  if (const auto temporary = element.getAs<clang::CFGTemporaryDtor>())
    return temporary->getBindTemporaryExpr()->getEndLoc();
  if (const auto deleted = element.getAs<clang::CFGDeleteDtor>())
    return deleted->getDeleteExpr()->getBeginLoc();
  return scope_.body ? scope_.body->getEndLoc() : clang::SourceLocation();
}

Block Builder::block(const clang::CFGBlock& source, Canonical& canonical, Evaluator& evaluator) {
  Block result;
  result.ordinal = source.getBlockID();
  for (const clang::CFGElement& code : source) {
    if (is_empty(code)) continue;
    Element element;
    element.at = place_of(code);
    Canonical::Result form = canonical.element(code);
    element.hash = form.hash;
    element.locals = std::move(form.locals);
    evaluator.run(code, element);
    for (const clang::Stmt* consumed : form.consumed) {
      const auto* e = dyn_cast<clang::Expr>(consumed);
      if (e && !e->getType()->isVoidType()) element.uses.push_back(temporary(consumed));
    }
    if (const auto s = code.getAs<clang::CFGStmt>(); s && isa<clang::Expr>(s->getStmt()))
      produced_.push_back({current_block_, result.elements.size(), s->getStmt()});
    result.elements.push_back(std::move(element));
  }
  if (const std::uint64_t decided = constant_branch(unit_.context, source); decided != 0) {
    Element element;
    element.hash = decided;
    element.at = unit_.files.point(source.getTerminatorStmt()->getBeginLoc());
    result.elements.push_back(std::move(element));
  }
  result.terminator = terminator_hash(source);
  result.successors = edges_of(source, canonical);
  return result;
}

/// Elements whose value another element uses define the temporary that carries it.
void Builder::define_temporaries(FunctionFacts& facts) {
  for (const Produced& produced : produced_)
    if (const auto found = temporaries_.find(produced.statement); found != temporaries_.end())
      facts.blocks[produced.block].elements[produced.element].defines.push_back(found->second);
  for (Block& block : facts.blocks)
    for (Element& element : block.elements) {
      sort_unique(element.defines);
      sort_unique(element.uses);
    }
}

void append(FunctionFacts& facts, std::uint32_t ordinal, Element element) {
  const auto block = std::ranges::find(facts.blocks, ordinal, &Block::ordinal);
  if (block != facts.blocks.end()) block->elements.push_back(std::move(element));
}

/// Behind the initialiser's own elements: the value becomes the variable's.
void Builder::add_static_init(FunctionFacts& facts, const clang::CFG& graph, Evaluator& evaluator) {
  std::uint32_t last = graph.getExit().getBlockID();
  for (const clang::CFGBlock::AdjacentBlock& predecessor : graph.getExit().preds())
    if (predecessor && predecessor->getBlockID() != graph.getEntry().getBlockID())
      last = predecessor->getBlockID();
  Element element;
  element.hash = hash_combine(
      hash_combine(kStaticInitHash, unit_.names.usr_hash(scope_.variable)),
      hash_combine(unit_.names.type_hash(scope_.variable->getType()), scope_.variable->getTLSKind()));
  element.at = unit_.files.point(scope_.variable->getLocation());
  evaluator.run_static_init(scope_.variable, element);
  append(facts, last, std::move(element));
}

void Builder::build(FunctionFacts& facts, FunctionPoints& points) {
  const std::unique_ptr<clang::CFG> graph = build_graph(unit_, scope_);
  if (!graph) return build_without_graph(facts, points);
  const Ownership ownership(*graph);
  Canonical canonical(unit_, scope_, ownership);
  Evaluator evaluator(unit_, scope_, ownership, temporaries_);
  evaluator.find_construction_targets(*graph);
  std::vector<const clang::CFGBlock*> ordered(graph->begin(), graph->end());
  std::sort(ordered.begin(), ordered.end(), [](const clang::CFGBlock* a, const clang::CFGBlock* b) {
    return a->getBlockID() < b->getBlockID();
  });
  for (const clang::CFGBlock* source : ordered) {
    current_block_ = facts.blocks.size();
    facts.blocks.push_back(block(*source, canonical, evaluator));
    if (unit_.options.points)
      points.blocks.push_back({source->getBlockID(), points_of(unit_, scope_, *graph, *source, ownership)});
  }
  if (unit_.options.points) place_conditions(unit_, scope_, *graph, points.blocks);
  facts.entry = graph->getEntry().getBlockID();
  facts.exit = graph->getExit().getBlockID();
  if (scope_.variable) add_static_init(facts, *graph, evaluator);
  if (scope_.function && scope_.function->hasAttr<clang::RequiresCapabilityAttr>()) {
    Element element;
    element.hash = kEntryHash;
    element.at = unit_.files.point(scope_.function->getLocation());
    evaluator.run_entry(scope_.function, element);
    append(facts, facts.entry, std::move(element));
  }
  define_temporaries(facts);
}

/// One block whose single element is the whole body.
void Builder::build_without_graph(FunctionFacts& facts, FunctionPoints& points) {
  scope_.flags |= kNoCfg;
  static const Ownership kNothingOwned;
  Canonical canonical(unit_, scope_, kNothingOwned);
  Element element;
  Canonical::Result form = canonical.statement(scope_.body);
  element.hash = form.hash;
  element.locals = std::move(form.locals);
  element.at = unit_.files.point(scope_.body->getBeginLoc());
  Block only;
  only.elements.push_back(std::move(element));
  facts.blocks.push_back(std::move(only));
  points.blocks.push_back({0, {unit_.files.point(scope_.body->getBeginLoc())}});
}

std::uint64_t signature_of(Unit& unit, const FunctionScope& scope) {
  if (!scope.function)
    return hash_combine(unit.names.type_hash(scope.variable->getType()), scope.variable->getTLSKind());
  const clang::FunctionDecl& function = *scope.function;
  std::uint64_t hash = unit.names.type_hash(function.getType());
  hash = hash_combine(hash, static_cast<std::uint64_t>(function.getStorageClass()));
  hash = hash_combine(hash, static_cast<std::uint64_t>(function.isExternallyVisible()));
  hash = hash_combine(hash, static_cast<std::uint64_t>(function.getConstexprKind()));
  const auto* method = dyn_cast<clang::CXXMethodDecl>(&function);
  return hash_combine(hash, method ? (method->isVirtual() ? 2u : 1u) + (method->isStatic() ? 4u : 0u) : 0u);
}

/// Locals count by first appearance, parameters by position, so that names and order of declaration do not
/// matter but use does.
std::uint64_t body_hash(const FunctionFacts& facts, std::size_t real_locals) {
  std::vector<std::uint32_t> number(facts.locals.size(), UINT32_MAX);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < real_locals; ++i)
    if (facts.locals[i].parameter) number[i] = next++;
  std::uint64_t hash = facts.flags & (kCoroutine | kNoCfg);
  for (const Block& block : facts.blocks) {
    hash = hash_combine(hash, block.ordinal);
    for (const Element& element : block.elements) {
      hash = hash_combine(hash, element.hash);
      for (const std::uint32_t local : element.locals) {
        if (number[local] == UINT32_MAX) number[local] = next++;
        hash = hash_combine(hash_combine(hash, number[local]), facts.locals[local].type);
        hash = hash_combine(hash, facts.locals[local].static_storage);
      }
    }
    hash = hash_combine(hash, block.terminator);
    for (const Edge& edge : block.successors)
      hash = hash_combine(
          hash, hash_combine(hash_combine(static_cast<std::uint64_t>(edge.kind), edge.label), edge.target));
  }
  return hash;
}

}  // namespace

FunctionFacts function_facts(Unit& unit, FunctionScope& scope, FunctionPoints& points) {
  FunctionFacts facts;
  facts.id = scope.id;
  facts.usr = scope.usr;
  const clang::NamedDecl* declaration = scope.declaration();
  facts.name = (scope.variable ? "initialiser of " : "") + unit.names.display(declaration);
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a scope has one of the two
  facts.file = unit.files.path(declaration->getLocation());
  facts.begin_line = unit.files.point(declaration->getBeginLoc()).line;
  facts.end_line = std::max(facts.begin_line, unit.files.point(declaration->getEndLoc()).line);
  facts.pattern = scope.pattern;
  if (scope.parent) facts.parent = scope.parent->id;
  facts.signature = signature_of(unit, scope);
  if (scope.function && unit.context.getLangOpts().CPlusPlus)
    facts.prototype = prototype_shape(scope.function->getType());
  if (scope.function) facts.linkage_names = unit.names.linkage_names(scope.function);
  if (const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(scope.function))
    for (const clang::CXXMethodDecl* overridden : method->overridden_methods())
      facts.overrides.push_back(function_id(unit.names.usr(overridden)));
  points.function = facts.id;
  const std::size_t real_locals = scope.locals.size();
  Builder(unit, scope).build(facts, points);
  facts.flags = scope.flags;
  facts.locals = scope.locals;
  facts.body = body_hash(facts, real_locals);
  return facts;
}

}  // namespace simrt::analysis
