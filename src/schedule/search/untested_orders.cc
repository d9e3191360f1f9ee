#include "schedule/search/untested_orders.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "schedule/search/dependence.h"
#include "schedule/search/object_keys.h"

namespace simrt::schedule {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

class Sweep {
 public:
  Sweep(const Execution& execution, const RaceAnalysis& analysis, const HapSets& known, std::size_t from,
        Novelty novelty)
      : execution_(execution),
        analysis_(analysis),
        known_(known),
        shown_(known.context_depth()),
        from_(from),
        novelty_(novelty) {}

  UntestedOrders run() {
    list_visible();
    const std::vector<HapSets::Dependence> dependences = HapSets::dependences(execution_);
    auto dependence = dependences.begin();
    for (std::size_t i = 0; i < execution_.events.size(); ++i) {
      const ExecutionEvent& event = execution_.events[i];
      for (; dependence != dependences.end() && dependence->after == i; ++dependence)
        shown_.insert(statement(i, StatementThread::Local),
                      statement(dependence->before, StatementThread::Remote));
      if (event.kind == EventKind::Create && event.object < next_.size()) {
        alive_[event.object] = true;
        if (i >= from_) look_back(static_cast<ThreadIndex>(event.object), i);
      }
      if (next_of(event.thread) != i) continue;  // nothing that another thread could see
      if (i >= from_) look_around(i);
      note(i);
      ++next_[event.thread];
      if (i >= from_) look_back(event.thread, i);
    }
    return std::move(result_);
  }

 private:
  /// Steps that could matter to another thread: all but accesses to memory that only one thread touched.
  void list_visible() {
    std::unordered_map<std::uint64_t, ThreadIndex> owners;
    std::size_t threads = execution_.threads.size();
    for (std::size_t i = 0; i < analysis_.steps(); ++i) {
      const ExecutionEvent& step = analysis_.step(i);
      threads = std::max<std::size_t>(threads, step.thread + 1u);
      each_key(step, [&](std::uint64_t key) {
        const auto [at, fresh] = owners.try_emplace(key, step.thread);
        if (!fresh && at->second != step.thread) at->second = kNoThread;
      });
    }
    visible_.resize(threads);
    next_.resize(threads, 0);
    alive_.resize(threads, true);
    for (const ExecutionEvent& event : execution_.events)
      if (event.kind == EventKind::Create && event.object < threads) alive_[event.object] = false;
    for (std::size_t i = 0; i < analysis_.steps(); ++i) {
      const ExecutionEvent& step = analysis_.step(i);
      if (!dependent_at_all(step.kind)) continue;
      bool shared = false;
      each_key(step, [&](std::uint64_t key) { shared |= owners[key] == kNoThread; });
      if (shared) visible_[step.thread].push_back(i);
    }
  }

  std::size_t next_of(ThreadIndex thread) const {
    return next_[thread] < visible_[thread].size() ? visible_[thread][next_[thread]] : kNone;
  }

  Statement statement(std::size_t step, StatementThread thread) const {
    return known_.statement(execution_, analysis_.step(step), thread);
  }

  /// Whether a good execution, or this one up to here, has shown `earlier` immediately before `later`.
  bool seen(std::size_t earlier, std::size_t later) const {
    const Statement before = statement(earlier, StatementThread::Remote);
    const Statement after = statement(later, StatementThread::Local);
    return known_.seen(before, after) || shown_.seen(before, after);
  }

  bool tested(std::size_t first, std::size_t second) {
    const bool tested =
        seen(second, first) && (novelty_ == Novelty::Reversed || !comes_behind_new(first, second));
    result_.tested += tested ? 1 : 0;
    return tested;
  }

  /// Whether the step that `second` would depend on immediately, were it made before `first`, is new to it.
  bool comes_behind_new(std::size_t first, std::size_t second) const {
    const ExecutionEvent& moved = analysis_.step(second);
    std::optional<std::size_t> behind, own;
    each_key(moved, [&](std::uint64_t key) {
      const auto steps = latest_.find(key);
      if (steps == latest_.end()) return;
      for (const std::size_t last : steps->second) {
        if (last >= first) continue;
        const ExecutionEvent& event = analysis_.step(last);
        if (event.thread == moved.thread) {
          own = std::max(own.value_or(last), last);
        } else if (hapset_conflict(event.kind, moved.kind)) {
          behind = std::max(behind.value_or(last), last);
        }
      }
    });
    return behind && (!own || *own < *behind) && !seen(*behind, second);
  }

  bool reversible(std::size_t first, std::size_t second) const {
    const ExecutionEvent &a = analysis_.step(first), &b = analysis_.step(second);
    // A try that could come before a release and fail is no order that HaPSets know: it would be asked for
    // again each time.
    const bool release = a.kind == EventKind::Unlock || a.kind == EventKind::UnlockShared;
    const bool unknown = release && b.tried && b.kind != EventKind::TryFailed;
    return a.thread != b.thread && dependent(a, b) && may_be_coenabled(a, b) && !unknown;
  }

  /// Others that could make their next step before this one.
  void look_around(std::size_t step) {
    for (ThreadIndex thread = 0; thread < next_.size(); ++thread) {
      const std::size_t second = alive_[thread] ? next_of(thread) : kNone;
      if (second != kNone && reversible(step, second) && !tested(step, second))
        result_.orders.push_back({step, second});
    }
  }

  /// The latest step that the thread's next one, known behind `step`, could come before.
  void look_back(ThreadIndex thread, std::size_t step) {
    const std::size_t second = next_of(thread);
    if (second == kNone) return;
    std::vector<std::size_t> earlier;
    each_key(analysis_.step(second), [&](std::uint64_t key) {
      for (const std::size_t last : latest_[key])
        if (reversible(last, second) && !analysis_.happens_before(last, step)) earlier.push_back(last);
    });
    std::sort(earlier.begin(), earlier.end(), std::greater<>());
    for (const std::size_t first : earlier) {
      if (tested(first, second)) continue;
      result_.orders.push_back({first, second});
      return;
    }
  }

  /// Keeps the latest step of each thread and statement on an object.
  void note(std::size_t step) {
    const ExecutionEvent& event = analysis_.step(step);
    each_key(event, [&](std::uint64_t key) {
      std::vector<std::size_t>& all = latest_[key];
      const auto same = std::ranges::find_if(all, [&](std::size_t other) {
        const ExecutionEvent& last = analysis_.step(other);
        return last.thread == event.thread && last.kind == event.kind && last.site == event.site &&
               last.stack == event.stack && last.object == event.object && last.size == event.size;
      });
      if (same != all.end()) {
        *same = step;
      } else {
        all.push_back(step);
      }
    });
  }

  const Execution& execution_;
  const RaceAnalysis& analysis_;
  const HapSets& known_;
  HapSets shown_;  // by this execution
  std::size_t from_;
  Novelty novelty_;
  std::vector<std::vector<std::size_t>> visible_;  // by thread
  std::vector<std::size_t> next_;                  // by thread: index into visible_
  std::vector<bool> alive_;                        // by thread: exists by now
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> latest_;
  UntestedOrders result_;
};

}  // namespace

UntestedOrders untested_orders(const Execution& execution, const RaceAnalysis& analysis, const HapSets& known,
                               std::size_t from, Novelty novelty) {
  return Sweep(execution, analysis, known, from, novelty).run();
}

}  // namespace simrt::schedule
