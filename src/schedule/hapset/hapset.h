// History-aware predecessor sets (HaPSet / Fusion, ICSE 2011, sections 3.1 to 3.4): which statement was seen
// to come immediately before which conflicting statement of another thread, learned from good executions.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

/// The paper's `thr`: the thread of the event itself, or another one.
enum class StatementThread : std::uint8_t { Local = 0, Remote = 1 };

/// (file, line, thr, ctx); the site stands for file, line and column, the context for what is done there and
/// the innermost k call sites (hashed). The paper goes by the line alone; but one place may make several
/// steps on one object (`n++` reads and writes; a wait goes to sleep and wakes up), and taken as one, the
/// order that a lost update needs between the two is always known.
struct Statement {
  SiteId site;
  std::uint64_t context = 0;
  StatementThread thread = StatementThread::Local;
  auto operator<=>(const Statement&) const = default;
};

/// Whether the order of two events of different threads on one object can matter for a HaPSet: read-write,
/// write-write, lock-lock, wait-notify (and, for what pthreads has no name for, semaphore post-wait). Unlocks
/// never.
bool hapset_conflict(EventKind a, EventKind b);

class HapSets {
 public:
  /// `context_depth`: the paper's k.
  explicit HapSets(std::size_t context_depth = 2) : context_depth_(context_depth) {}

  Statement statement(const Execution& execution, const ExecutionEvent& event, StatementThread thread) const;

  /// Two events, by index.
  struct Dependence {
    std::size_t before = 0, after = 0;
  };
  /// The immediate dependences of an execution, ascending by `after`. An event is immediately dependent on
  /// the last event of another thread on the same object, if the two conflict and the event's own thread did
  /// not touch the object since.
  static std::vector<Dependence> dependences(const Execution& execution);

  /// Adds every immediate dependence of the execution; nothing when it failed, was cut or diverged. Returns
  /// how many pairs were new.
  std::size_t learn(const Execution& execution);
  std::size_t merge(const HapSets& other);

  /// Whether `before` was seen immediately before `after`: stmt(before) in HaPSet[stmt(after)].
  bool seen(const Statement& before, const Statement& after) const;
  bool seen(const Execution& execution, const ExecutionEvent& before, const ExecutionEvent& after) const {
    return seen(statement(execution, before, StatementThread::Remote),
                statement(execution, after, StatementThread::Local));
  }
  /// Forgets what involves one of the sites: after a change it is explored again.
  void forget(const std::unordered_set<SiteId>& sites);

  const std::map<Statement, std::set<Statement>>& sets() const { return sets_; }
  void insert(const Statement& after, const Statement& before) { sets_[after].insert(before); }
  /// Number of (statement, predecessor) pairs.
  std::size_t size() const;
  std::size_t context_depth() const { return context_depth_; }

 private:
  std::size_t context_depth_;
  std::map<Statement, std::set<Statement>> sets_;
};

}  // namespace simrt::schedule
