// A whole program at one revision: the union of its units' facts, one entry a function and variable.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/facts.h"
#include "model/function_list.h"

namespace simrt {

struct UnitSummary {
  std::string path;
  std::uint64_t command = 0;
  std::uint32_t errors = 0;
  std::vector<FileFacts> files;
  std::vector<FunctionId> functions;
};

class Program {
 public:
  FunctionList functions;                ///< ascending id, unique
  std::vector<VariableFacts> variables;  ///< ascending id, unique
  std::vector<UnitSummary> units;        ///< ascending path

  /// Null when unknown. Valid until the vectors change; call index() after changing them.
  const FunctionFacts* function(FunctionId id) const;
  /// Where it stands in `functions`.
  std::optional<std::size_t> position(FunctionId id) const;
  const VariableFacts* variable(VariableId id) const;
  /// Display name, or "?" for an unknown one.
  std::string name_of(VariableId id) const;
  std::string name_of(FunctionId id) const;

  /// Sorts, removes duplicates and rebuilds the look-ups.
  void index();

 private:
  std::unordered_map<FunctionId, std::size_t> function_index_;
  std::unordered_map<VariableId, std::size_t> variable_index_;
};

/// Id of the variant of a function that a unit has for itself.
FunctionId variant_id(FunctionId function, const std::string& unit);

/// Unites units into a program. Two units that define one function differently (other macros) keep both
/// variants: the later one (by unit path) gets a variant_id().
Program unite(const std::vector<UnitFacts>& units);

/// What has to be replaced in a recorded program to get the changed one.
struct Replacement {
  std::vector<UnitFacts> reparsed;         ///< units parsed at the new revision
  std::vector<std::string> removed_units;  ///< units that no longer exist
  /// Headers of which representative units were parsed: what those no longer define there is gone everywhere,
  /// and what they define otherwise now has changed in all units that had the same.
  std::vector<std::string> represented_files;
};

/// The program at the new revision: `base` with the units of `replacement` exchanged. Functions that only
/// removed or reparsed units held, and that the reparsed ones no longer define, are gone.
Program overlay(const Program& base, const Replacement& replacement);

}  // namespace simrt
