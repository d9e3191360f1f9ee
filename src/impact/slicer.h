// The forward slice of rule 5 as it grows: where a change begins, and what depends on it. Internal to
// rule_slice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "impact/branch_sites.h"
#include "impact/lock_regions.h"
#include "impact/marks.h"
#include "impact/order_regions.h"

namespace simrt::impact {

class Slicer {
 public:
  Slicer(const ChangeContext& context, Marks& marks, BranchSites& branches)
      : context_(context),
        before_(context.before),
        after_(context.after),
        marks_(marks),
        branches_(branches),
        regions_(context, marks),
        ordered_(context, marks),
        by_data_(after_.element_count(), false),
        by_control_(after_.element_count(), false) {
    find_captures();
  }

  void seed_changed_function(const ChangedFunction& changed);
  void seed_initial_values();
  void run();
  /// Calls whose callee the slice decides, ascending.
  std::vector<std::uint32_t> decided_calls() const { return {decided_calls_.begin(), decided_calls_.end()}; }

 private:
  /// What is left to follow: a value of `local` that leaves `element` (or enters the function), or an
  /// element.
  struct Step {
    enum Kind : std::uint8_t { Value, Data, Control } kind;
    std::uint32_t element;   ///< Value: defined here, kNone = at the function's entry
    std::uint32_t function;  ///< Value only
    std::uint32_t local;     ///< Value: the local; Data: the local or call that brought it, see `from_call`
    std::uint32_t cause;
    std::uint32_t from_call = kNone;  ///< Data: the call event whose result is affected
    VariableId read = {};             ///< Data: the variable with another value, where that is no local
  };

  void seed_element(const ChangedFunction& changed, std::uint32_t element);
  void seed_removed(const ChangedFunction& changed, std::uint32_t old_element);
  void seed_edges(const ChangedFunction& changed);
  void seed_old_branch(const ChangedFunction& changed, std::uint32_t old_block, std::uint32_t cause);
  /// `by`: the block whose branch decides about this one.
  void affect_block(std::uint32_t function, std::uint32_t block, std::uint32_t by, std::uint32_t cause);
  bool in_its_old_block(std::uint32_t element) const;
  void hand_on(std::uint32_t element, std::uint32_t cause);

  void follow_value(const Step& step);
  void follow_in_block(const Step& step, std::uint32_t block, std::uint32_t first,
                       std::vector<std::uint32_t>& next);
  void data(const Step& step);
  void control(const Step& step);
  void outflow(std::uint32_t element, std::uint32_t cause);
  void stored(std::uint32_t element, std::uint32_t cause);
  void read_by_others(VariableId variable, std::uint32_t cause, bool as_lock);
  void seed_constructors(const ChangedFunction& changed, std::uint32_t element, std::uint32_t cause);
  bool is_affected(const Value& value, const Step& step, const std::vector<VariableId>& locals) const;
  void find_readers();
  void into_callees(const Step& step);
  void into_lambda(std::uint32_t lambda, const std::vector<VariableId>& captured, std::uint32_t cause);
  void into_closures(std::uint32_t element, std::uint32_t local, std::uint32_t cause);
  bool comes_from(const Value& value, std::uint32_t function, std::uint32_t local) const;
  void into_callers(std::uint32_t node, std::uint32_t cause);
  void find_captures();
  void branch(std::uint32_t element, std::uint32_t cause);

  bool uses(std::uint32_t element, std::uint32_t local) const {
    const auto& used = after_.element(element).uses;
    return std::find(used.begin(), used.end(), local) != used.end();
  }
  bool defines(std::uint32_t element, std::uint32_t local) const {
    const auto& defined = after_.element(element).defines;
    return std::find(defined.begin(), defined.end(), local) != defined.end();
  }
  std::vector<VariableId> ids_of(std::uint32_t function, std::uint32_t local) const;
  bool marked_access(std::uint32_t element) const;
  std::uint32_t cause(const std::string& text, const ChangedFunction& changed, SourcePoint at) {
    return marks_.add({ImpactRule::ForwardSlice, text, after_.function(changed.new_function).file, at});
  }

  const ChangeContext& context_;
  const ProgramIndex& before_;
  const ProgramIndex& after_;
  Marks& marks_;
  BranchSites& branches_;
  LockRegions regions_;
  OrderRegions ordered_;
  std::unordered_map<VariableId, std::vector<std::uint32_t>> readers_;  ///< elements, by what is no local
  std::unordered_set<VariableId> lock_pointers_;  ///< decide which lock an operation means
  std::set<std::uint32_t> decided_calls_;
  std::set<std::pair<VariableId, bool>> read_by_others_;
  /// (lambda, ordinal) of the variables that closures keep what they capture in.
  std::unordered_map<VariableId, std::pair<std::uint32_t, std::uint32_t>> captures_;
  std::unordered_set<std::uint32_t> results_;  ///< call graph nodes whose result is affected
  std::vector<bool> by_data_, by_control_;
  std::unordered_set<std::uint64_t> values_;  ///< (defining element or function, local) already followed
  std::deque<Step> work_;
};

}  // namespace simrt::impact
