// Must-locksets of a whole program version: summaries of all functions that touch locks, to a fixpoint over
// the call graph. No entry context is assumed from callers (intersecting callers fails: lock-free destructors
// poison it); the rules compare locksets at matched call sites instead and close over the callees.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "impact/lock_flow.h"

namespace simrt::impact {

class Locksets {
 public:
  /// `names` is shared by the two versions, so that their locksets compare by number.
  Locksets(const ProgramIndex& index, const CallGraph& calls, LockNames& names);

  /// Locks held when the event happens: LockNames::set id, 0 = none.
  std::uint32_t at(std::uint32_t event) const;
  /// Lock operations of a function, its calls' effects included, in order of elements.
  std::span<const LockTouch> touches(std::uint32_t function) const;
  const LockSummary& summary(std::uint32_t function) const;
  /// LockFlow::gives_up of a function.
  const std::vector<std::uint32_t>& given_up(std::uint32_t function) const;
  /// False: the function neither touches a lock nor calls one that does.
  bool relevant(std::uint32_t function) const { return flows_.contains(function); }

 private:
  void find_lockable_classes();
  std::vector<std::uint32_t> callees_first() const;
  void solve(LockContext& context);
  const std::vector<std::pair<std::string, std::string>>& equalities(const LockContext& context,
                                                                     std::uint32_t function);

  const ProgramIndex& index_;
  const CallGraph& calls_;
  LockNames& names_;
  LockableClasses lockable_;
  std::unordered_map<std::uint32_t, LockFlow> flows_;
  std::unordered_map<std::uint32_t, std::vector<std::pair<std::string, std::string>>> equalities_;
};

}  // namespace simrt::impact
