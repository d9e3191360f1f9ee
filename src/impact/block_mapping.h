// Where an access of p' stands in p, which is all that coverage can speak of: the block of its own function,
// or, in code that p does not have, the blocks of the nearest existing callers. Code that the change makes
// run from new places maps to these places too: a test that covers the new call site need not have covered
// the callee before.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "impact/branch_sites.h"
#include "impact/change_context.h"
#include "impact/site_flow.h"

namespace simrt::impact {

class BlockMapping {
 public:
  /// `changed_calls`: call events of p' that rule 2 found. `branches`: what the change decides about;
  /// `statics`: what the initialisers of function-local statics run. Both have to outlive this.
  BlockMapping(const ChangeContext& context, const std::vector<std::uint32_t>& changed_calls,
               const BranchSites& branches, const BranchSites& statics);

  /// The block of an event in a function that p has; nullopt in a new one.
  std::optional<BlockId> own_block(std::uint32_t event) const;
  /// The call sites of a new function in all its nearest existing callers.
  Places callers_of_new(std::uint32_t function) const;
  /// From where the change newly reaches a function that p has; empty for most.
  Places newly_reached_from(std::uint32_t function) const;
  /// From where it is run through a once-flag or by the initialiser of a function-local static: on the
  /// recorded execution only the thread that came first ran it, but any that gets there may. Empty for most.
  Places once_from(std::uint32_t function) const;
  /// From where the event itself is newly reached, by a branch that the change decides. Empty for most.
  Places newly_reached_at(std::uint32_t event) const;
  /// From where the event itself is reached by whoever comes first. Empty for most.
  Places once_at(std::uint32_t event) const;

 private:
  SiteFlow find_callers() const;
  SiteFlow find_newly_reached(const std::vector<std::uint32_t>& changed_calls) const;
  SiteFlow find_once() const;
  /// An edge that is taken from the block of its event, or from that of another branch.
  struct Start {
    std::uint32_t event;
    CallEdge edge;
    std::optional<BlockId> site;
  };
  SiteFlow flow_from(const std::vector<Start>& starts) const;
  void add_pointer_calls(const CallEdge& handed_on, std::vector<Start>& starts) const;
  void add_calls_at(const BranchSites& branches, std::vector<Start>& starts) const;
  bool is_new(std::uint32_t node) const;

  const ChangeContext& context_;
  const BranchSites &branches_, &statics_;
  const SiteFlow callers_, newly_reached_, once_;
};

}  // namespace simrt::impact
