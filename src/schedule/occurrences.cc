#include "schedule/occurrences.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace simrt::schedule {
namespace {

constexpr std::size_t kMostPerSite = 6;
constexpr std::size_t kThreadsAlike = 3;

/// Of the heap, with the accesses to it.
struct Block {
  std::uint64_t end;
  std::vector<Occurrence> steps;
};

bool synchronises(EventKind kind) {
  switch (kind) {
    case EventKind::Lock:
    case EventKind::LockShared:
    case EventKind::TryFailed:
    case EventKind::Wait:
    case EventKind::Notify:
    case EventKind::NotifyAll:
    case EventKind::SemaphorePost:
    case EventKind::SemaphoreWait:
      return true;
    default:
      return false;
  }
}

}  // namespace

Occurrences::Occurrences(const Execution& execution, bool operations) {
  const SharedVariables shared(execution);
  by_variable_.resize(shared.count());
  std::size_t threads = execution.threads.size();
  for (const ExecutionEvent& event : execution.events)
    threads = std::max<std::size_t>(threads, event.thread + 1u);
  clocks_.emplace_back(threads, 0);
  locks_.emplace_back();
  std::vector<std::uint32_t> clock(threads, 0), locks(threads, 0);
  std::vector<std::uint64_t> points(threads, 0);
  std::map<std::uint64_t, std::vector<Occurrence>> by_object;
  std::map<std::uint64_t, Block> blocks;
  auto decision = execution.decisions.begin();
  const auto order_after = [&](ThreadIndex thread, std::uint32_t other, ThreadIndex source,
                               std::size_t until) {
    Clock joined = clocks_[clock[thread]];
    for (std::size_t t = 0; t < threads; ++t) joined[t] = std::max(joined[t], clocks_[other][t]);
    joined[source] = std::max(joined[source], until);
    clock[thread] = static_cast<std::uint32_t>(clocks_.size());
    clocks_.push_back(std::move(joined));
  };
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    const ThreadIndex thread = event.thread;
    const std::uint32_t before = locks[thread];
    const bool other_thread = event.object < threads && event.object != thread;
    if (event.kind == EventKind::Create && other_thread)
      order_after(static_cast<ThreadIndex>(event.object), clock[thread], thread, i + 1);
    if (event.kind == EventKind::Join && other_thread)
      order_after(thread, clock[event.object], static_cast<ThreadIndex>(event.object), i);
    const bool acquires = event.kind == EventKind::Lock || event.kind == EventKind::LockShared;
    const bool releases = event.kind == EventKind::Unlock || event.kind == EventKind::UnlockShared;
    if (acquires || releases || event.kind == EventKind::Wait) {
      std::vector<HeldLock> held = locks_[locks[thread]];
      if (acquires) {
        held.push_back({event.object, i, event.kind == EventKind::LockShared});
      } else if (releases) {
        const auto last = std::find_if(held.rbegin(), held.rend(),
                                       [&](const HeldLock& lock) { return lock.lock == event.object; });
        if (last != held.rend()) held.erase(std::next(last).base());
      } else {
        held.clear();  // which lock the wait gives up is not known: none is relied on
      }
      locks[thread] = static_cast<std::uint32_t>(locks_.size());
      locks_.push_back(std::move(held));
    }
    const Occurrence occurrence = {i, event.site, thread, event.kind, clock[thread], before, points[thread]};
    for (const VariableNumber variable : shared.touched_by(i)) add(by_variable_[variable], occurrence);
    if (operations && synchronises(event.kind)) add(by_object[event.object], occurrence);
    if (operations && event.kind == EventKind::Allocate)
      blocks.insert_or_assign(event.object, Block{event.object + event.size, {}});
    if (operations && is_memory(event.kind) && !blocks.empty()) {
      const auto block = blocks.upper_bound(event.object);
      if (block != blocks.begin() && event.object < std::prev(block)->second.end)
        add(std::prev(block)->second.steps, occurrence);
    }
    if (const auto block = blocks.find(event.object);
        event.kind == EventKind::Free && block != blocks.end()) {
      block->second.steps.push_back(occurrence);
      keep_shared(std::move(block->second.steps));
      blocks.erase(block);
    }
    if (decision != execution.decisions.end() && decision->event == i) {
      ++points[thread];
      ++decision;
    }
  }
  for (auto& [object, all] : by_object) keep_shared(std::move(all));
  likeness_.resize(threads);
  keep_few_threads();
}

void Occurrences::keep_few_threads() {
  using Touches = std::set<std::pair<SiteId, EventKind>>;
  std::map<ThreadIndex, Touches> touches;
  for (const auto& all : by_variable_)
    for (const Occurrence& each : all) touches[each.thread].insert({each.site, each.kind});
  std::map<Touches, std::vector<ThreadIndex>> alike;
  for (const auto& [thread, sites] : touches) alike[sites].push_back(thread);
  std::set<ThreadIndex> dropped;
  std::size_t number = 0;
  for (const auto& [sites, threads] : alike) {
    ++number;
    for (const ThreadIndex thread : threads) likeness_[thread] = number;
    if (threads.size() > kThreadsAlike)  // the first ones and the last
      dropped.insert(threads.begin() + (kThreadsAlike - 1), threads.end() - 1);
  }
  if (dropped.empty()) return;
  for (auto* lists : {&by_variable_, &by_object_})
    for (auto& all : *lists)
      std::erase_if(all, [&](const Occurrence& each) { return dropped.contains(each.thread); });
}

void Occurrences::keep_shared(std::vector<Occurrence> steps) {
  const auto is_other = [&](const Occurrence& each) { return each.thread != steps.front().thread; };
  if (std::ranges::any_of(steps, is_other)) by_object_.push_back(std::move(steps));
}

void Occurrences::add(std::vector<Occurrence>& all, const Occurrence& occurrence) const {
  std::size_t same = 0;
  Occurrence* last = nullptr;
  bool other_locks = false;
  for (Occurrence& each : all) {
    if (each.thread != occurrence.thread || each.site != occurrence.site || each.kind != occurrence.kind)
      continue;
    ++same;
    last = &each;
    other_locks = locks_[each.locks].size() != locks_[occurrence.locks].size();
  }
  // The last one moves on; the first stays, and so do some from before the locks changed.
  if (same < 2 || (other_locks && same < kMostPerSite)) {
    all.push_back(occurrence);
  } else {
    *last = occurrence;
  }
}

std::vector<VariableNumber> Occurrences::representatives() const {
  using Touch = std::tuple<SiteId, EventKind, ThreadIndex>;
  std::map<std::set<Touch>, int> kinds;
  std::vector<VariableNumber> chosen;
  for (VariableNumber variable = 0; variable < by_variable_.size(); ++variable) {
    std::set<Touch> kind;
    for (const Occurrence& each : by_variable_[variable]) kind.insert({each.site, each.kind, each.thread});
    if (kinds[kind]++ < 2) chosen.push_back(variable);
  }
  return chosen;
}

bool Occurrences::must_precede(const Occurrence& earlier, const Occurrence& later) const {
  return earlier.thread != later.thread && clocks_[later.clock][earlier.thread] > earlier.event;
}

bool Occurrences::under_common_lock(const Occurrence& one, const Occurrence& other) const {
  for (const HeldLock& held : locks_[one.locks])
    for (const HeldLock& lock : locks_[other.locks])
      if (lock.lock == held.lock && !(lock.shared && held.shared)) return true;
  return false;
}

bool Occurrences::locked_out(const Occurrence& from, const Occurrence& inner, const Occurrence& until) const {
  for (const HeldLock& held : locks_[from.locks]) {
    const auto through = std::ranges::any_of(locks_[until.locks], [&](const HeldLock& lock) {
      return lock.lock == held.lock && lock.acquisition == held.acquisition;
    });
    if (!through) continue;
    for (const HeldLock& lock : locks_[inner.locks])
      if (lock.lock == held.lock && !(lock.shared && held.shared)) return true;
  }
  return false;
}

}  // namespace simrt::schedule
