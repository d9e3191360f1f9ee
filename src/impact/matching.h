// Which function, block, element, event and local of the old program each one of the new program corresponds
// to. Turns the CFG diff into look-ups on dense numbers. Knows nothing of locks, aliases or impact.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "impact/program_index.h"
#include "model/change.h"

namespace simrt::impact {

/// Renames locals, parameters and functions of an old body to their partners in the new one.
class Renaming {
 public:
  Renaming() = default;
  Renaming(const ProgramIndex& before, std::uint32_t old_function, const ProgramIndex& after,
           std::uint32_t new_function, std::vector<std::uint32_t> new_local_of_old);

  VariableId variable(VariableId old) const;
  /// The local's ordinal in the new function, or kNone.
  std::uint32_t local(std::uint32_t old) const { return old < locals_.size() ? locals_[old] : kNone; }
  /// An access path ("l3->mu_") with its head renamed.
  std::string path(const std::string& old) const;
  Place place(const Place& old) const;
  Value value(const Value& old) const;

 private:
  std::vector<std::uint32_t> locals_;
  std::unordered_map<VariableId, VariableId> variables_;
};

/// A function in both versions whose body differs.
struct ChangedFunction {
  std::uint32_t new_function = kNone, old_function = kNone;
  const FunctionDiff* diff = nullptr;
  std::vector<ElementStatus> status;       ///< per new element, relative to the function's first
  std::vector<std::uint32_t> old_element;  ///< per new element: dense number or kNone
  std::vector<std::uint32_t> new_element;  ///< per old element: dense number or kNone
  std::vector<std::uint32_t> old_event;  ///< per new event: its twin (equal but for renamed locals), or kNone
  std::vector<std::uint32_t> new_event;  ///< per old event
  std::vector<std::uint32_t> removed;    ///< old elements without partner
  /// Per new element: the removed one with the same code that it was moved from, or kNone. A moved element is
  /// Added for the walk (its place changed), but its accesses are not new.
  std::vector<std::uint32_t> moved_from;
  Renaming renaming;
};

class Matching {
 public:
  Matching(const ProgramIndex& before, const ProgramIndex& after, const ProgramDiff& diff);

  FunctionStatus status(std::uint32_t new_function) const { return status_[new_function]; }
  std::uint32_t old_function(std::uint32_t new_function) const { return old_function_[new_function]; }
  std::uint32_t new_function(std::uint32_t old_function) const { return new_function_[old_function]; }
  /// Functions in both versions whose bodies differ, ascending by new number.
  const std::vector<ChangedFunction>& changed() const { return changed_; }
  const ChangedFunction* changed(std::uint32_t new_function) const;

  ElementStatus element_status(std::uint32_t new_element) const;
  std::uint32_t old_element(std::uint32_t new_element) const;
  std::uint32_t new_element(std::uint32_t old_element) const;
  std::uint32_t old_event(std::uint32_t new_event) const;
  /// The same, but also for the events of a moved element.
  std::uint32_t old_or_moved_event(std::uint32_t new_event) const;

  /// Block of p that the position in a function of p' maps to; the function's entry where the walk has none.
  /// nullopt: the function is not in p.
  std::optional<BlockId> old_block(std::uint32_t new_function, std::uint32_t block_position) const;

  /// The callee of an old call under its new name.
  FunctionId renamed(FunctionId old) const;

 private:
  void pair_functions(const ProgramDiff& diff);
  ChangedFunction match(std::uint32_t new_function, std::uint32_t old_function,
                        const FunctionDiff& diff) const;
  void match_elements(ChangedFunction& changed) const;
  void match_locals(ChangedFunction& changed) const;
  void match_values(const ChangedFunction& changed, std::vector<std::uint32_t>& partner) const;
  void match_moved(ChangedFunction& changed) const;
  void match_events(ChangedFunction& changed) const;
  void pair_events(ChangedFunction& changed, std::uint32_t new_element, std::uint32_t old_element) const;
  bool same_shape(std::uint32_t new_function, std::uint32_t old_function) const;
  bool equal_event(const Event& old_event, const Event& new_event, const Renaming& renaming) const;

  const ProgramIndex& before_;
  const ProgramIndex& after_;
  std::vector<FunctionStatus> status_;
  std::vector<std::uint32_t> old_function_, new_function_;
  std::vector<ChangedFunction> changed_;
  std::unordered_map<std::uint32_t, std::uint32_t> changed_index_;
  std::unordered_map<FunctionId, FunctionId> renamed_functions_;
};

}  // namespace simrt::impact
