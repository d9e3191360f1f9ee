// Which accesses an ordering operation orders: what comes before it (release), what comes after it (acquire),
// and the threads it starts or ends. Knows operations and small wrappers of them; not the change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "impact/call_graph.h"
#include "impact/program_index.h"

namespace simrt::impact {

enum OrderEffect : std::uint8_t {
  kNoOrder = 0,
  kOrdersBefore = 1,   ///< release: the accesses that run before it
  kOrdersAfter = 2,    ///< acquire: the accesses that run after it
  kOrdersThreads = 4,  ///< the thread's whole entry function
  kOrdersCallers = 8,  ///< what callers do afterwards, however large the function (join, future)
  /// A notification orders no memory (its mutex does) but decides when waiters look: what its function did
  /// before it, itself and in the functions it calls, not all that these call in turn.
  kWakes = 16,
};

/// Effects of one event: ordering operations, and atomic accesses by their memory order.
std::uint8_t order_effects(const Event& event);

/// "join of thread_", "release store to ready_", ...
std::string describe_order(const Program& program, const Event& event);

class OrderSummaries {
 public:
  OrderSummaries(const ProgramIndex& index, const CallGraph& calls) : index_(index), calls_(calls) {}

  /// Small enough that its callers use it as an ordering operation of its own.
  bool is_wrapper(std::uint32_t function) const;
  /// Effects that a call inherits from the small wrapper it reaches; kNoOrder for other callees.
  std::uint8_t of_call(std::uint32_t call_event) const;
  /// Entry functions of the threads that `object` (a std::thread, pthread_t, future) stands for; when that
  /// cannot be told, those started in the function, else all.
  std::vector<std::uint32_t> entries_of(const Place& object, std::uint32_t function) const;

 private:
  std::uint8_t of_function(std::uint32_t function, int depth) const;
  void collect_entries() const;
  std::vector<VariableId> objects_of_spawn(std::uint32_t element) const;

  const ProgramIndex& index_;
  const CallGraph& calls_;
  mutable std::unordered_map<std::uint32_t, std::uint8_t> memo_;
  mutable bool collected_ = false;
  mutable std::map<VariableId, std::vector<std::uint32_t>> entries_by_object_;
  mutable std::map<std::uint32_t, std::vector<std::uint32_t>> entries_by_function_;
};

}  // namespace simrt::impact
