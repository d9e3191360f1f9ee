#include "schedule/hapset/hapset.h"

#include <algorithm>
#include <unordered_map>

#include "support/hash.h"

namespace simrt::schedule {
namespace {

bool acquires(EventKind kind) {
  return kind == EventKind::Lock || kind == EventKind::LockShared || kind == EventKind::TryFailed;
}
bool waits(EventKind kind) {
  return kind == EventKind::Wait || kind == EventKind::Woken || kind == EventKind::TimedOut;
}
bool notifies(EventKind kind) { return kind == EventKind::Notify || kind == EventKind::NotifyAll; }
bool counts(EventKind kind) { return kind == EventKind::SemaphorePost || kind == EventKind::SemaphoreWait; }

bool has_predecessors(EventKind kind) {
  return is_memory(kind) || acquires(kind) || waits(kind) || notifies(kind) || counts(kind);
}

struct LastStep {
  ThreadIndex thread;
  std::size_t event;
};

}  // namespace

bool hapset_conflict(EventKind a, EventKind b) {
  if (is_memory(a) && is_memory(b)) return writes_memory(a) || writes_memory(b);
  if (acquires(a) && acquires(b)) return a == EventKind::Lock || b == EventKind::Lock;
  if (counts(a) && counts(b)) return true;
  return (waits(a) && notifies(b)) || (notifies(a) && waits(b));
}

Statement HapSets::statement(const Execution& execution, const ExecutionEvent& event,
                             StatementThread thread) const {
  Statement statement{event.site, hash_combine(0, static_cast<std::uint64_t>(event.kind)), thread};
  if (event.stack >= execution.stacks.size()) return statement;
  const std::vector<SiteId>& stack = execution.stacks[event.stack];
  for (std::size_t i = 0; i < std::min(context_depth_, stack.size()); ++i)
    statement.context = hash_combine(statement.context + 1, stack[i].value);
  return statement;
}

std::vector<HapSets::Dependence> HapSets::dependences(const Execution& execution) {
  std::vector<Dependence> found;
  std::unordered_map<std::uint64_t, std::vector<LastStep>> objects;
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    if (!has_predecessors(event.kind)) continue;
    std::vector<LastStep>& steps = objects[event.object];
    const auto own =
        std::ranges::find_if(steps, [&](const LastStep& step) { return step.thread == event.thread; });
    for (const LastStep& step : steps) {
      if (step.thread == event.thread || (own != steps.end() && step.event < own->event)) continue;
      if (hapset_conflict(execution.events[step.event].kind, event.kind)) found.push_back({step.event, i});
    }
    if (own != steps.end()) {
      own->event = i;
    } else {
      steps.push_back({event.thread, i});
    }
  }
  return found;
}

std::size_t HapSets::learn(const Execution& execution) {
  if (execution.outcome.end != ExecutionEnd::Passed) return 0;
  std::size_t fresh = 0;
  for (const auto& [before, after] : dependences(execution)) {
    const bool added = sets_[statement(execution, execution.events[after], StatementThread::Local)]
                           .insert(statement(execution, execution.events[before], StatementThread::Remote))
                           .second;
    fresh += added ? 1 : 0;
  }
  return fresh;
}

std::size_t HapSets::merge(const HapSets& other) {
  std::size_t fresh = 0;
  for (const auto& [after, befores] : other.sets_)
    for (const Statement& before : befores) fresh += sets_[after].insert(before).second ? 1 : 0;
  return fresh;
}

bool HapSets::seen(const Statement& before, const Statement& after) const {
  const auto at = sets_.find(after);
  return at != sets_.end() && at->second.contains(before);
}

void HapSets::forget(const std::unordered_set<SiteId>& sites) {
  for (auto at = sets_.begin(); at != sets_.end();) {
    std::erase_if(at->second, [&](const Statement& before) { return sites.contains(before.site); });
    at = sites.contains(at->first.site) || at->second.empty() ? sets_.erase(at) : std::next(at);
  }
}

std::size_t HapSets::size() const {
  std::size_t pairs = 0;
  for (const auto& [after, befores] : sets_) pairs += befores.size();
  return pairs;
}

}  // namespace simrt::schedule
