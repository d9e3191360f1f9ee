// Who may call whom in one program version: direct calls, virtual calls with all overriders, functions handed
// on as callbacks or thread entries, lambdas, and calls through pointers. Over-approximates; knows nothing of
// the change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impact/program_index.h"

namespace simrt::impact {

/// `event` is the call's event, or kNone for an edge without a call site (a lambda that its parent only
/// creates, the possible targets of a call through a pointer).
struct CallEdge {
  std::uint32_t caller = 0, callee = 0, event = kNone;
  CallKind kind = CallKind::Direct;
};

/// Nodes are function numbers, followed by pseudo-nodes ("any function handed on as a callback that can take
/// k arguments", or that takes exactly k) that calls through pointers go through; is_function() tells them
/// apart.
class CallGraph {
 public:
  explicit CallGraph(const ProgramIndex& index);

  std::uint32_t node_count() const { return node_count_; }
  bool is_function(std::uint32_t node) const { return node < function_count_; }
  /// Edges that leave or enter a node, in the order of their call events.
  std::span<const CallEdge> out(std::uint32_t node) const;
  std::span<const CallEdge> in(std::uint32_t node) const;
  /// Edges of one call event; empty when the callee is not in the program.
  std::span<const CallEdge> edges_of(std::uint32_t event, std::uint32_t caller) const;
  /// Functions that a thread is started with: Spawn callees, and callbacks handed to a function that itself
  /// starts threads with a call through a pointer (home-made spawners). Ascending.
  const std::vector<std::uint32_t>& thread_entries() const { return thread_entries_; }
  /// Overriders of a method, transitively; without the method itself. Ascending.
  std::vector<std::uint32_t> overriders(std::uint32_t function) const;
  /// Functions reachable from `start` (included), ascending.
  std::vector<std::uint32_t> closure(const std::vector<std::uint32_t>& start) const;

  /// True when the callee runs on a new thread: it is what a thread is started with, or a callback handed to
  /// a function that starts threads.
  bool starts_thread(const CallEdge& edge) const {
    return edge.kind == CallKind::Spawn ||
           (edge.kind == CallKind::Callback && edge.event != kNone && hands_to_spawner(edge.event));
  }
  /// True when the callback at `event` is handed to a function that starts threads.
  bool hands_to_spawner(std::uint32_t event) const;

 private:
  void collect_overrides();
  void add_calls(std::uint32_t function);
  void add_targets(std::uint32_t caller, std::uint32_t event, const Call& call);
  void add_lambdas();
  void add_pointer_targets();
  void sort_edges();
  void find_spawners();
  void find_thread_entries();

  const ProgramIndex& index_;
  std::uint32_t function_count_ = 0, node_count_ = 0;
  std::vector<CallEdge> out_, in_;
  std::vector<std::uint32_t> first_out_, first_in_;
  std::vector<std::vector<std::uint32_t>> overridden_by_;  ///< direct
  std::unordered_map<FunctionId, std::vector<std::uint32_t>>
      overriders_of_unknown_;                                ///< the base has no body here
  std::vector<std::vector<std::uint32_t>> instantiated_as_;  ///< per template pattern
  std::vector<std::uint32_t> callbacks_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pointer_calls_;  ///< (caller, event)
  std::vector<std::uint32_t> thread_entries_;
  std::vector<bool> starts_threads_;
};

/// Number of parameters of a function.
std::uint32_t arity(const FunctionFacts& function);

}  // namespace simrt::impact
