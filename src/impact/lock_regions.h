// What a lock operation protects: the code that runs behind it until the lock is given back, also in the
// callers of a function that returns with it. Wider than the must-locksets: a lock that is taken under a
// condition, or one of several, protects all of that. Knows nothing of why the operation matters.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "impact/change_context.h"
#include "impact/marks.h"

namespace simrt::impact {

class LockRegions {
 public:
  LockRegions(const ChangeContext& context, Marks& marks) : context_(context), marks_(marks) {}

  /// Another lock than before: marks all that the operations at `element` of p' protect.
  void other_lock(std::uint32_t element, std::uint32_t cause) { mark(element, cause, false); }
  /// The operations at `element` run under another condition: marks what is protected or not accordingly.
  /// What is certainly protected whatever the condition stays out.
  void other_condition(std::uint32_t element, std::uint32_t cause) { mark(element, cause, true); }

 private:
  struct Walk {
    std::uint32_t lock, cause;
    bool conditional;
    bool until_taken;  ///< behind a release: up to the next operation
    bool assumed;      ///< a lock that is held if the caller holds it counts as held
    int depth;         ///< levels of callers
  };

  void mark(std::uint32_t element, std::uint32_t cause, bool conditional);
  void walk(std::uint32_t element, const Walk& walk);
  void into_callers(std::uint32_t function, const Walk& walk);
  bool visit(std::uint32_t element, const Walk& walk);
  bool ends_at(std::uint32_t element, const Walk& walk) const;
  bool held(std::uint32_t event, const Walk& walk) const;

  const ChangeContext& context_;
  Marks& marks_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> walked_, walked_conditionally_;  ///< (element, lock)
};

}  // namespace simrt::impact
