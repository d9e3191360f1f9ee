// Builds the changed program from the recorded one plus the few units that were parsed again, so that the
// cost of a selection follows the diff and not the repository.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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

class Overlay {
 public:
  Overlay(const Program& base, const Replacement& replacement) : base_(base) {
    touched_.insert(replacement.removed_units.begin(), replacement.removed_units.end());
    for (const UnitFacts& unit : replacement.reparsed) touched_.insert(unit.path);
    represented_.insert(replacement.represented_files.begin(), replacement.represented_files.end());
    untouched_ = held_by_untouched_units(base, touched_);
    for (const UnitFacts& unit : replacement.reparsed) untouched_.insert(unit.kept.begin(), unit.kept.end());
    replaced_ = held_by_touched_units(base, touched_);
  }

  Program build(const std::vector<UnitFacts>& reparsed) {
    std::vector<const UnitFacts*> ordered;
    for (const UnitFacts& unit : reparsed) ordered.push_back(&unit);
    std::sort(ordered.begin(), ordered.end(),
              [](const UnitFacts* a, const UnitFacts* b) { return a->path < b->path; });
    for (const UnitFacts* unit : ordered) add_unit(*unit);
    for (std::size_t i = 0; i < base_.functions.size(); ++i) add_recorded(i);
    // Fresh variables stand first, so that index() keeps the new declaration where both versions have one.
    program_.variables.insert(program_.variables.end(), base_.variables.begin(), base_.variables.end());
    for (const UnitSummary& unit : base_.units)
      if (!touched_.contains(unit.path)) program_.units.push_back(unit);
    program_.index();
    return std::move(program_);
  }

 private:
  void add_unit(const UnitFacts& unit) {
    const auto summary = std::find_if(base_.units.begin(), base_.units.end(),
                                      [&](const UnitSummary& known) { return known.path == unit.path; });
    const FunctionSet before = summary == base_.units.end()
                                   ? FunctionSet{}
                                   : FunctionSet(summary->functions.begin(), summary->functions.end());
    UnitSummary now{unit.path, unit.command, unit.errors, unit.files, {}};
    now.functions.reserve(unit.functions.size() + unit.kept.size());
    for (const FunctionFacts& function : unit.functions)
      now.functions.push_back(
          add_parsed(function, recorded_id(base_, before, function.id, unit.path), unit.path));
    for (const FunctionId kept : unit.kept) now.functions.push_back(add_kept(kept, unit.path));
    program_.variables.insert(program_.variables.end(), unit.variables.begin(), unit.variables.end());
    program_.units.push_back(std::move(now));
  }

  /// Takes `id` for a version of a function, or a variant's id where another unit has taken it for another
  /// version; and whether this version is a new one.
  std::pair<FunctionId, bool> place(FunctionId id, std::uint64_t body, FunctionId own,
                                    const std::string& unit) {
    const auto [seen, first] = body_of_.try_emplace(id, body);
    if (first || seen->second == body) return {id, first};
    id = variant_id(own, unit);
    return {id, body_of_.try_emplace(id, body).second};
  }

  FunctionId add_parsed(const FunctionFacts& function, FunctionId wanted, const std::string& unit) {
    const auto [id, first] = place(wanted, function.body, function.id, unit);
    const FunctionFacts* const recorded = base_.function(id);
    if (recorded && recorded->body != function.body && represented_.contains(function.file) &&
        !recorded->usr.empty())
      changes_.try_emplace({recorded->usr, recorded->body}, &function);
    if (!first) return id;
    fresh_.insert(id);
    FunctionFacts united = function;
    united.id = id;
    // Units may declare one function otherwise (constexpr in one language standard only). The recorded
    // declaration is that of another unit, and holds as long as a unit with it stays as it was.
    if (recorded && recorded->body == function.body && untouched_.contains(id))
      united.signature = recorded->signature;
    program_.functions.push_back(std::move(united));
    return id;
  }

  /// A function of a reparsed unit that nobody looked at; its facts are the recorded ones.
  FunctionId add_kept(FunctionId recorded, const std::string& unit) {
    const FunctionFacts* const function = base_.function(recorded);
    if (!function) return recorded;
    const auto [id, first] = place(recorded, function->body, recorded, unit);
    if (first && id != recorded) add_copy(*function, id);
    return id;
  }

  void add_recorded(std::size_t i) {
    const FunctionFacts& function = base_.functions[i];
    if (fresh_.contains(function.id)) return;
    const bool was_replaced = replaced_.contains(function.id);
    const bool gone =
        was_replaced && (!untouched_.contains(function.id) || represented_.contains(function.file));
    if (gone) return;
    const auto change = changes_.find({function.usr, function.body});
    if (change == changes_.end())
      program_.functions.push_back(base_.functions.shared(i));
    else
      add_copy(*change->second, function.id);
  }

  void add_copy(FunctionFacts function, FunctionId id) {
    function.id = id;
    program_.functions.push_back(std::move(function));
  }

  const Program& base_;
  std::set<std::string> touched_, represented_;
  FunctionSet untouched_;  // functions held by units that stay as they were, and kept ones
  FunctionSet replaced_, fresh_;
  Changes changes_;  // in represented headers
  std::unordered_map<FunctionId, std::uint64_t> body_of_;
  Program program_;
};

}  // namespace

Program overlay(const Program& base, const Replacement& replacement) {
  return Overlay(base, replacement).build(replacement.reparsed);
}

}  // namespace simrt
