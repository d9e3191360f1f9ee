// The accesses of a recorded execution to memory that threads share, in ways that can be asked quickly.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "testing/execution.h"

namespace simrt::pipeline {

struct TraceAccess {
  std::size_t event = 0;  ///< index into the execution's events
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t thread = 0;
  std::uint64_t place = 0;       ///< program counter; the same in every execution of the program
  std::uint64_t site = 0;        ///< of the place and its callers
  std::uint32_t occurrence = 0;  ///< how often its thread came to the site before
  bool reads = false, writes = false;
};

inline bool overlap(const TraceAccess& a, const TraceAccess& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

/// 8-byte words that two threads of the execution touch, one of them writing.
void add_shared_words(const testing::Execution& execution, std::unordered_set<std::uint64_t>& shared);

/// Values only; refers to nothing of the execution.
class TraceView {
 public:
  /// Accesses to one of the words; of all executions that are compared, so that one that ends early knows
  /// what would have been shared.
  TraceView(const testing::Execution& execution, const std::unordered_set<std::uint64_t>& shared);
  TraceView(const TraceView&) = delete;  // the lists point into accesses_
  TraceView(TraceView&&) = default;

  /// One behind the last event.
  std::size_t end() const { return end_; }
  const std::vector<std::uint32_t>& threads() const { return threads_; }
  /// That made the last event.
  std::uint32_t last_thread() const { return last_thread_; }
  /// In their order.
  const std::vector<const TraceAccess*>& of_thread(std::uint32_t thread) const;
  /// By place, or by site.
  const std::vector<const TraceAccess*>& at(std::uint64_t where) const;
  /// The accesses there that the thread of `before` made behind it.
  std::vector<const TraceAccess*> candidates(std::uint64_t where, const TraceAccess& before) const;
  /// Other threads' accesses after event `from` and before event `until`.
  std::vector<const TraceAccess*> others_between(std::uint32_t thread, std::size_t from,
                                                 std::size_t until) const;
  /// The last write before a read that it can have seen; null: none in this execution.
  const TraceAccess* writer_of(const TraceAccess& read) const;
  /// The same step of the same thread as `access` of another execution; null when it was not made here.
  const TraceAccess* counterpart(const TraceAccess& access) const;
  /// Creation and joining of threads put `a` (at event `position`) before `b` in every schedule.
  bool must_precede(const TraceAccess& a, std::size_t position, const TraceAccess& b) const;

 private:
  using Clock = std::map<std::uint32_t, std::size_t>;  // per thread: events below this index come first
  void add_clocks(const testing::Execution& execution);

  std::size_t end_ = 0;
  std::uint32_t last_thread_ = 0;
  std::vector<TraceAccess> accesses_;
  std::vector<std::uint32_t> threads_;
  std::map<std::uint32_t, std::vector<const TraceAccess*>> by_thread_;
  std::unordered_map<std::uint64_t, std::vector<const TraceAccess*>> by_where_;
  std::unordered_map<std::uint64_t, std::vector<const TraceAccess*>> writes_;  // by 8-byte word
  // By thread: (event from which it knows, what it knows).
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, Clock>>> clocks_;
};

}  // namespace simrt::pipeline
