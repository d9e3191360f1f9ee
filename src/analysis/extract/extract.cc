#include "analysis/extract/extract.h"

#include <clang/AST/ASTContext.h>

#include <algorithm>
#include <set>

#include "analysis/extract/collect.h"
#include "analysis/extract/function_facts.h"
#include "analysis/extract/unit.h"

namespace simrt::analysis {
namespace {

void mention(const Place& place, std::vector<VariableId>& mentioned) {
  if (place.base) mentioned.push_back(place.base);
}

struct Mentions {
  std::vector<VariableId>& mentioned;
  void operator()(const Access& access) const { mention(access.place, mentioned); }
  void operator()(const Call& call) const {
    if (call.receiver) mention(call.receiver->place, mentioned);
    for (const Value& argument : call.arguments) mention(argument.place, mentioned);
  }
  void operator()(const LockOp& operation) const {
    for (const Place& lock : operation.locks) mention(lock, mentioned);
    mention(operation.guard, mentioned);
    mention(operation.source, mentioned);
  }
  void operator()(const OrderOp& operation) const { mention(operation.object, mentioned); }
  void operator()(const Binding& binding) const {
    mention(binding.target, mentioned);
    mention(binding.value.place, mentioned);
  }
};

std::vector<VariableId> mentioned_variables(const std::vector<FunctionFacts>& functions) {
  std::vector<VariableId> mentioned;
  for (const FunctionFacts& function : functions)
    for (const Block& block : function.blocks)
      for (const Element& element : block.elements)
        for (const Event& event : element.events) std::visit(Mentions{mentioned}, event.what);
  std::sort(mentioned.begin(), mentioned.end());
  mentioned.erase(std::unique(mentioned.begin(), mentioned.end()), mentioned.end());
  return mentioned;
}

}  // namespace

UnitFacts extract_unit(clang::ASTContext& context, const ExtractOptions& options, SkippedFunctions* skipped) {
  UnitFacts facts;
  facts.path = options.unit_path;
  Unit unit(context, options);
  collect_functions(unit);
  std::set<FunctionId> seen;
  for (const auto& scope : unit.scopes) {
    if (!scope->function && !scope->variable) continue;  // holds the lambdas of a default member initialiser
    if (!seen.insert(scope->id).second) continue;        // an invalid redefinition
    if (!unit.is_wanted(scope->declaration())) {
      unit.note_skipped(scope->function, scope->id);
      continue;
    }
    FunctionPoints points;
    facts.functions.push_back(function_facts(unit, *scope, points));
    if (options.points) facts.points.push_back(std::move(points));
  }
  if (skipped) *skipped = std::move(unit.skipped);
  facts.variables = unit.variables.facts(mentioned_variables(facts.functions));
  return facts;
}

}  // namespace simrt::analysis
