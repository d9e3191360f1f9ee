// What an execution's accesses to shared variables look like to a prediction: where, by whom, under which
// locks, and what creation and joining of threads order them against.
#pragma once

#include <cstdint>
#include <vector>

#include "model/execution.h"
#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {

struct Occurrence {
  std::size_t event = 0;
  SiteId site;
  ThreadIndex thread = 0;
  EventKind kind = EventKind::Read;
  std::uint32_t clock = 0, locks = 0;  ///< indices of snapshots
};

/// Keeps for each variable, thread, site and mode the first and the last access under each of a few sets of
/// locks. Of threads that access shared memory at the same sites a few stand for all: patterns know two
/// threads.
class Occurrences {
 public:
  explicit Occurrences(const Execution& execution);

  std::size_t variables() const { return by_variable_.size(); }
  const std::vector<Occurrence>& of(VariableNumber variable) const { return by_variable_[variable]; }
  /// One to two variables of every kind of variable: those that the same sites touch in the same way are of
  /// one.
  std::vector<VariableNumber> representatives() const;

  /// Creation and joining of threads put `earlier` before `later` in every schedule.
  bool must_precede(const Occurrence& earlier, const Occurrence& later) const;
  /// `inner` cannot happen between the other two, which are one thread's: they lie in one critical section of
  /// a lock that `inner` is made under too.
  bool locked_out(const Occurrence& from, const Occurrence& inner, const Occurrence& until) const;

 private:
  struct HeldLock {
    std::uint64_t lock, acquisition;
    bool shared;
  };
  using Clock = std::vector<std::size_t>;  ///< per thread: events below this index come first
  void add(VariableNumber variable, const Occurrence& occurrence);
  void keep_few_threads();

  std::vector<Clock> clocks_;
  std::vector<std::vector<HeldLock>> locks_;
  std::vector<std::vector<Occurrence>> by_variable_;
};

}  // namespace simrt::schedule
