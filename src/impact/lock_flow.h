// The locks that are certainly held at each event of one function: a forward must-dataflow over its CFG.
// Calls act through summaries of their callees, lock guards through the locks they manage. Knows one function
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "impact/access_path.h"
#include "impact/call_graph.h"
#include "impact/lock_names.h"
#include "impact/program_index.h"

namespace simrt::impact {

/// What a call does to its caller's locks, named by the callee's own paths.
struct LockSummary {
  Lockset acquires;                     ///< held when it returns; `assumed` ones if the caller held them
  std::vector<std::uint32_t> releases;  ///< released on some path without being acquired before; ascending
  /// Given up for a while and exclusively held again on return, so the caller's state is as before whatever
  /// it calls the lock; only its critical section is cut in two. Ascending.
  std::vector<std::uint32_t> lends;
  bool trivial() const { return acquires.empty() && releases.empty() && lends.empty(); }
  bool operator==(const LockSummary&) const = default;
};

/// A lock that an element operates on, directly or through a call.
struct LockTouch {
  std::uint32_t element = 0;
  std::uint32_t lock = 0;
  LockAction action = LockAction::Acquire;
  LockMode mode = LockMode::Exclusive;
  bool lent = false;  ///< by a callee that gives it up and takes it again (LockSummary::lends)
  bool operator==(const LockTouch&) const = default;
};

struct LockFlow {
  std::vector<std::uint32_t>
      at_event;  ///< lockset before each event, by offset in the function; LockNames::set id
  std::vector<LockTouch> touches;  ///< in order of elements
  /// Locks of the callers that are not held here from some point on: released by this function or for good by
  /// a callee. Ascending.
  std::vector<std::uint32_t> gives_up;
  LockSummary summary;
};

/// Classes that are locks because a method acquires a member and keeps it: a guard over an object of such a
/// class holds that member. Class name -> member.
using LockableClasses = std::unordered_map<std::string, VariableId>;

/// What the flow of one function needs from the rest of the program.
struct LockContext {
  const ProgramIndex& index;
  const CallGraph& calls;
  LockNames& names;
  const LockableClasses& lockable;
  std::function<const LockSummary&(std::uint32_t function)> summary;
  /// Member paths of `this` that a constructor sets to parameters or globals.
  std::function<const std::vector<std::pair<std::string, std::string>>&(std::uint32_t function)> equalities;
};

/// Runs the flow. Locks that the function releases without having acquired them are assumed to be held at its
/// entry.
LockFlow lock_flow(const LockContext& context, std::uint32_t function);

/// The frame of a function with its assignments and the constructors it calls taken into account.
Frame lock_frame(const LockContext& context, std::uint32_t function);

}  // namespace simrt::impact
