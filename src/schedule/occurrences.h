// What an execution's accesses to shared variables, and its operations on what threads synchronise with, look
// like to a prediction: where, by whom, under which locks, and what creation and joining of threads order
// them against.
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
  std::uint64_t points = 0;            ///< scheduling points that its thread had passed before
};

/// Keeps for each variable, thread, site and mode the first and the last access under each of a few sets of
/// locks. Of threads that access shared memory at the same sites a few stand for all: patterns know two
/// threads.
class Occurrences {
 public:
  /// `operations`: operations() is wanted, too.
  explicit Occurrences(const Execution& execution, bool operations = false);

  std::size_t variables() const { return by_variable_.size(); }
  const std::vector<Occurrence>& of(VariableNumber variable) const { return by_variable_[variable]; }
  /// Acquisitions, waits, notifications and the like, by the object they are made on; the accesses to a block
  /// of the heap with the free that ends it. Each list has steps of two threads.
  const std::vector<std::vector<Occurrence>>& operations() const { return by_object_; }
  /// Threads that access shared memory at the same sites have the same number.
  std::size_t likeness_of(ThreadIndex thread) const { return likeness_[thread]; }
  /// One to two variables of every kind of variable: those that the same sites touch in the same way are of
  /// one.
  std::vector<VariableNumber> representatives() const;

  /// Creation and joining of threads put `earlier` before `later` in every schedule.
  bool must_precede(const Occurrence& earlier, const Occurrence& later) const;
  /// The two are made under a lock that keeps one out while the other's thread stands before it.
  bool under_common_lock(const Occurrence& one, const Occurrence& other) const;
  /// `inner` cannot happen between the other two, which are one thread's: they lie in one critical section of
  /// a lock that `inner` is made under too.
  bool locked_out(const Occurrence& from, const Occurrence& inner, const Occurrence& until) const;

 private:
  struct HeldLock {
    std::uint64_t lock, acquisition;
    bool shared;
  };
  using Clock = std::vector<std::size_t>;  ///< per thread: events below this index come first
  void add(std::vector<Occurrence>& all, const Occurrence& occurrence) const;
  void keep_few_threads();
  void keep_shared(std::vector<Occurrence> steps);

  std::vector<Clock> clocks_;
  std::vector<std::vector<HeldLock>> locks_;
  std::vector<std::vector<Occurrence>> by_variable_, by_object_;
  std::vector<std::size_t> likeness_;
};

}  // namespace simrt::schedule
