// Everything the rules look at: both versions, their call graphs and locksets, the matching, and which
// functions count as changed. Built once an analysis; read-only afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "impact/call_graph.h"
#include "impact/control_flow.h"
#include "impact/impact.h"
#include "impact/locksets.h"
#include "impact/matching.h"
#include "impact/program_index.h"
#include "impact/shared_places.h"

namespace simrt::impact {

class ChangeContext {
 public:
  ChangeContext(const Program& before_program, const Program& after_program, const ProgramDiff& program_diff,
                const ImpactOptions& impact_options);

  const ImpactOptions& options;
  const ProgramDiff& diff;
  const ProgramIndex before, after;
  const CallGraph calls_before, calls_after;
  const Matching matching;
  LockNames lock_names;
  const Locksets locks_before, locks_after;
  /// ProgramDiff::variables without locals: those are numbered within their function, so an inserted one
  /// seems to change its successors; a changed declaration of a local is a changed element anyway.
  const std::vector<VariableId> changed_variables;
  const SharedPlaces shared_before, shared_after;

  /// Functions in both versions whose change can have an effect (test code left out).
  const std::vector<const ChangedFunction*>& changed() const { return changed_; }
  /// New functions that something existing can reach. A new function nobody calls changes no execution.
  const std::vector<std::uint32_t>& added() const { return added_; }
  bool is_live_added(std::uint32_t function) const { return live_added_[function]; }
  bool is_test_code(const FunctionFacts& function) const {
    return options.is_test_code && options.is_test_code(function);
  }

  /// CFG of a function of p' (p), built on first use.
  const ControlFlow& flow_after(std::uint32_t function) const;
  const ControlFlow& flow_before(std::uint32_t function) const;

  /// Where something removed stood, in p': the nearest matched element behind it, else before it, else the
  /// function.
  SourcePoint nearest_in_after(const ChangedFunction& changed, std::uint32_t old_element) const;
  /// Element of p' that takes the place of an old one: its partner, else the nearest matched one before it in
  /// its block; kNone when nothing before it in the block is matched.
  std::uint32_t nearest_before(const ChangedFunction& changed, std::uint32_t old_element) const;

  /// True when the events of an Altered element explain the alteration: some call, lock, order or binding has
  /// no twin.
  bool alteration_is_in_events(const ChangedFunction& changed, std::uint32_t new_element) const;

 private:
  void find_changed();
  void find_added();
  bool runs_without_known_caller(std::uint32_t function) const;

  std::vector<const ChangedFunction*> changed_;
  std::vector<std::uint32_t> added_;
  std::vector<bool> live_added_;
  mutable std::map<std::uint32_t, std::unique_ptr<ControlFlow>> flows_after_, flows_before_;
};

/// "Class" of "ns::Class::method(int)": everything before the last component.
std::string class_of(std::string_view name);
inline std::string class_of(const FunctionFacts& function) { return class_of(function.name); }

}  // namespace simrt::impact
