#include "model/program.h"

#include <algorithm>

#include "model/change.h"
#include "support/hash.h"

namespace simrt {
namespace {

/// `id_of` an item; of several with one id the first stays.
template <class T, class IdOf>
void sort_unique_by_id(std::vector<T>& items, IdOf id_of) {
  const auto less = [&](const T& a, const T& b) { return id_of(a) < id_of(b); };
  const auto equal = [&](const T& a, const T& b) { return id_of(a) == id_of(b); };
  std::stable_sort(items.begin(), items.end(), less);
  items.erase(std::unique(items.begin(), items.end(), equal), items.end());
}

template <class T>
auto find_by_id(const std::vector<T>& sorted, FunctionId id, FunctionId T::* key) {
  return std::find_if(sorted.begin(), sorted.end(), [&](const T& item) { return item.*key == id; });
}

}  // namespace

void FunctionList::sort_unique() {
  sort_unique_by_id(items_, [](const Shared& function) { return function->id; });
}

bool operator==(const FunctionList& a, const FunctionList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::optional<std::size_t> Program::position(FunctionId id) const {
  const auto it = function_index_.find(id);
  return it == function_index_.end() ? std::nullopt : std::optional(it->second);
}

const FunctionFacts* Program::function(FunctionId id) const {
  const auto at = position(id);
  return at ? &functions[*at] : nullptr;
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
  functions.sort_unique();
  sort_unique_by_id(variables, [](const VariableFacts& variable) { return variable.id; });
  std::stable_sort(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  function_index_.clear();
  function_index_.reserve(functions.size());
  variable_index_.clear();
  variable_index_.reserve(variables.size());
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
        FunctionFacts united = function;
        united.id = id;
        program.functions.push_back(std::move(united));
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
