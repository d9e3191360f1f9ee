// Builds the changed program from the recorded one plus the few units that were parsed again, so that the
// cost of a selection follows the diff and not the repository.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include "model/program.h"
#include "support/hash.h"

namespace simrt {
namespace {

using FunctionSet = std::unordered_set<FunctionId>;
/// By USR and recorded body: what the reparsed units define now.
using Changes = std::map<std::pair<std::string_view, std::uint64_t>, const FunctionFacts*>;

/// Functions held by units that stay as they were.
FunctionSet held_by_untouched_units(const Program& base, const std::set<std::string>& touched) {
  FunctionSet held;
  for (const UnitSummary& unit : base.units)
    if (!touched.contains(unit.path)) held.insert(unit.functions.begin(), unit.functions.end());
  return held;
}

FunctionSet held_by_touched_units(const Program& base, const std::set<std::string>& touched) {
  FunctionSet held;
  for (const UnitSummary& unit : base.units)
    if (touched.contains(unit.path)) held.insert(unit.functions.begin(), unit.functions.end());
  return held;
}

/// The id under which `base` knows this unit's variant of a function, so that variants keep their identity.
FunctionId recorded_id(const Program& base, const FunctionSet& unit_functions, FunctionId id,
                       const std::string& unit) {
  const FunctionId qualified = variant_id(id, unit);
  return unit_functions.contains(qualified) && base.function(qualified) ? qualified : id;
}

}  // namespace

Program overlay(const Program& base, const Replacement& replacement) {
  std::set<std::string> touched(replacement.removed_units.begin(), replacement.removed_units.end());
  for (const UnitFacts& unit : replacement.reparsed) touched.insert(unit.path);
  const std::set<std::string> represented(replacement.represented_files.begin(),
                                          replacement.represented_files.end());

  const FunctionSet untouched = held_by_untouched_units(base, touched);
  const FunctionSet replaced = held_by_touched_units(base, touched);

  Program program;
  FunctionSet fresh;
  Changes changes;  // in represented headers
  std::vector<const UnitFacts*> ordered;
  for (const UnitFacts& unit : replacement.reparsed) ordered.push_back(&unit);
  std::sort(ordered.begin(), ordered.end(),
            [](const UnitFacts* a, const UnitFacts* b) { return a->path < b->path; });
  std::unordered_map<FunctionId, std::uint64_t> body_of;
  for (const UnitFacts* unit : ordered) {
    const auto summary = std::find_if(base.units.begin(), base.units.end(),
                                      [&](const UnitSummary& known) { return known.path == unit->path; });
    const FunctionSet before = summary == base.units.end()
                                   ? FunctionSet{}
                                   : FunctionSet(summary->functions.begin(), summary->functions.end());
    UnitSummary now{unit->path, unit->command, unit->errors, unit->files, {}};
    for (const FunctionFacts& function : unit->functions) {
      FunctionId id = recorded_id(base, before, function.id, unit->path);
      auto [seen, first] = body_of.try_emplace(id, function.body);
      if (!first && seen->second != function.body) {
        id = variant_id(function.id, unit->path);
        first = body_of.try_emplace(id, function.body).second;
      }
      now.functions.push_back(id);
      const FunctionFacts* const recorded = base.function(id);
      if (recorded && recorded->body != function.body && represented.contains(function.file) &&
          !recorded->usr.empty())
        changes.try_emplace({recorded->usr, recorded->body}, &function);
      if (!first) continue;
      fresh.insert(id);
      FunctionFacts united = function;
      united.id = id;
      // Units may declare one function otherwise (constexpr in one language standard only). The recorded
      // declaration is that of another unit, and holds as long as a unit with it stays as it was.
      if (recorded && recorded->body == function.body && untouched.contains(id))
        united.signature = recorded->signature;
      program.functions.push_back(std::move(united));
    }
    program.variables.insert(program.variables.end(), unit->variables.begin(), unit->variables.end());
    program.units.push_back(std::move(now));
  }

  for (std::size_t i = 0; i < base.functions.size(); ++i) {
    const FunctionFacts& function = base.functions[i];
    if (fresh.contains(function.id)) continue;
    const bool was_replaced = replaced.contains(function.id);
    const bool gone =
        was_replaced && (!untouched.contains(function.id) || represented.contains(function.file));
    if (gone) continue;
    const auto change = changes.find({function.usr, function.body});
    if (change == changes.end()) {
      program.functions.push_back(base.functions.shared(i));
      continue;
    }
    FunctionFacts changed = *change->second;
    changed.id = function.id;
    program.functions.push_back(std::move(changed));
  }
  // Fresh variables stand first, so that index() keeps the new declaration where both versions have one.
  program.variables.insert(program.variables.end(), base.variables.begin(), base.variables.end());
  for (const UnitSummary& unit : base.units)
    if (!touched.contains(unit.path)) program.units.push_back(unit);
  program.index();
  return program;
}

}  // namespace simrt
