// Where an access of p' stands in p, which is all that coverage can speak of: the block of its own function,
// or, in code that p does not have, the blocks of the nearest existing callers. Code that the change makes
// run from new places maps to these places too: a test that covers the new call site need not have covered
// the callee before.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "impact/change_context.h"

namespace simrt::impact {

/// A block of p that stands for code of p'. {0, 0} = unknown: it runs on another thread than the block that
/// starts it.
struct MappedBlock {
  FunctionId function;  ///< c.m
  BlockId block;
  BlockId reached_from;
  auto operator<=>(const MappedBlock&) const = default;
};

class BlockMapping {
 public:
  /// `changed_calls`: call events of p' that rule 2 found.
  BlockMapping(const ChangeContext& context, const std::vector<std::uint32_t>& changed_calls);

  /// For an access in an existing function: its own block. In a new one: the call site in every nearest
  /// existing caller.
  std::vector<MappedBlock> of(std::uint32_t event) const;
  /// Blocks from which the change newly reaches an existing function; empty for most.
  const std::set<MappedBlock>& newly_reached_from(std::uint32_t function) const;

 private:
  const std::set<MappedBlock>& callers_of_new(std::uint32_t function) const;
  std::set<MappedBlock> sites(std::uint32_t event) const;
  void spread(std::uint32_t call_event);

  const ChangeContext& context_;
  mutable std::unordered_map<std::uint32_t, std::set<MappedBlock>> callers_;
  std::unordered_map<std::uint32_t, std::set<MappedBlock>> newly_reached_;
};

}  // namespace simrt::impact
