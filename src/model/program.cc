#include "model/program.h"

#include <algorithm>

#include "model/change.h"
#include "support/hash.h"

namespace simrt {
namespace {

template <class T>
void sort_unique_by_id(std::vector<T>& items) {
  std::stable_sort(items.begin(), items.end(), [](const T& a, const T& b) { return a.id < b.id; });
  items.erase(std::unique(items.begin(), items.end(), [](const T& a, const T& b) { return a.id == b.id; }),
              items.end());
}

template <class T>
auto find_by_id(const std::vector<T>& sorted, FunctionId id, FunctionId T::* key) {
  return std::find_if(sorted.begin(), sorted.end(), [&](const T& item) { return item.*key == id; });
}

}  // namespace

const FunctionFacts* Program::function(FunctionId id) const {
  auto it = function_index_.find(id);
  return it == function_index_.end() ? nullptr : &functions[it->second];
}

const VariableFacts* Program::variable(VariableId id) const {
  auto it = variable_index_.find(id);
  return it == variable_index_.end() ? nullptr : &variables[it->second];
}

std::string Program::name_of(VariableId id) const {
  const VariableFacts* facts = variable(id);
  return facts ? facts->name : "?";
}

std::string Program::name_of(FunctionId id) const {
  const FunctionFacts* facts = function(id);
  return facts ? facts->name : "?";
}

void Program::index() {
  sort_unique_by_id(functions);
  sort_unique_by_id(variables);
  std::stable_sort(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  function_index_.clear();
  variable_index_.clear();
  for (std::size_t i = 0; i < functions.size(); ++i) function_index_[functions[i].id] = i;
  for (std::size_t i = 0; i < variables.size(); ++i) variable_index_[variables[i].id] = i;
}

FunctionId variant_id(FunctionId function, const std::string& unit) {
  return {hash_combine(function.value, hash_bytes(unit))};
}

Program unite(const std::vector<UnitFacts>& units) {
  std::vector<const UnitFacts*> ordered;
  for (const UnitFacts& unit : units) ordered.push_back(&unit);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const UnitFacts* a, const UnitFacts* b) { return a->path < b->path; });

  Program program;
  std::unordered_map<FunctionId, std::uint64_t> body_of;
  for (const UnitFacts* unit : ordered) {
    UnitSummary summary{unit->path, unit->command, unit->errors, unit->files, {}};
    for (const FunctionFacts& function : unit->functions) {
      FunctionId id = function.id;
      auto [seen, fresh] = body_of.try_emplace(id, function.body);
      if (!fresh && seen->second != function.body) {
        id = variant_id(id, unit->path);
        fresh = body_of.try_emplace(id, function.body).second;
      }
      if (fresh) {
        program.functions.push_back(function);
        program.functions.back().id = id;
      }
      summary.functions.push_back(id);
    }
    program.variables.insert(program.variables.end(), unit->variables.begin(), unit->variables.end());
    program.units.push_back(std::move(summary));
  }
  program.index();
  return program;
}

const FunctionDiff* ProgramDiff::find(FunctionId id) const {
  auto it = find_by_id(functions, id, &FunctionDiff::id);
  return it == functions.end() ? nullptr : &*it;
}

const FunctionDiff* ProgramDiff::find_old(FunctionId id) const {
  auto it = find_by_id(functions, id, &FunctionDiff::old_id);
  return it == functions.end() ? nullptr : &*it;
}

}  // namespace simrt
