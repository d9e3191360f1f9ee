#include "schedule/search/races.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "schedule/search/dependence.h"
#include "schedule/search/object_keys.h"

namespace simrt::schedule {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

using Clock = std::vector<std::uint32_t>;

void join(Clock& into, const Clock& from) {
  for (std::size_t t = 0; t < from.size(); ++t) into[t] = std::max(into[t], from[t]);
}

/// Latest step of each thread and kind on one object, or on memory that begins in one 8-byte word.
struct Last {
  ThreadIndex thread;
  EventKind kind;
  std::uint64_t object;
  std::uint32_t size;
  std::size_t step;
};

}  // namespace

RaceAnalysis::RaceAnalysis(const Execution& execution) : real_(execution.events.size()) {
  steps_ = execution.events;
  for (const PendingOperation& pending : execution.pending) steps_.push_back(pending.operation);
  analyse(execution);
}

bool RaceAnalysis::happens_before(std::size_t earlier, std::size_t later) const {
  return earlier == later || clocks_[later][steps_[earlier].thread] >= position_[earlier];
}

void RaceAnalysis::analyse(const Execution& execution) {
  std::size_t threads = execution.threads.size();
  for (const ExecutionEvent& step : steps_) threads = std::max<std::size_t>(threads, step.thread + 1u);
  std::vector<std::size_t> latest(threads, kNone), creation(threads, kNone), last_wait(threads, kNone);
  std::unordered_map<std::uint64_t, std::vector<Last>> objects;
  std::unordered_map<std::uint64_t, ThreadIndex> holders;
  std::map<std::pair<ThreadIndex, std::uint64_t>, std::size_t> shares;  // read sides that a thread holds
  std::vector<bool> nested(steps_.size(), false);  // read side that its thread has already
  position_.resize(steps_.size());
  clocks_.resize(steps_.size());
  std::vector<std::size_t> before;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ExecutionEvent& step = steps_[i];
    const bool happened = i < real_;
    const std::size_t previous = latest[step.thread] != kNone ? latest[step.thread] : creation[step.thread];
    Clock clock = previous == kNone ? Clock(threads, 0) : clocks_[previous];
    const std::uint32_t own = latest[step.thread] == kNone ? 1 : position_[latest[step.thread]] + 1;

    before.clear();
    each_key(step, [&](std::uint64_t key) {
      for (const Last& last : objects[key])
        if (last.thread != step.thread && dependent(steps_[last.step], step)) before.push_back(last.step);
    });
    std::sort(before.begin(), before.end(), std::greater<>());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    const Clock until_here = clock;
    Clock newer = clock;
    for (const std::size_t earlier : before) {
      const ThreadIndex other = steps_[earlier].thread;
      if (may_be_coenabled(steps_[earlier], step) && until_here[other] < position_[earlier]) {
        races_.push_back({earlier, i, newer[other] < position_[earlier]});
        // Whoever waits for the write side cannot come before a nested one.
        if (surely_coenabled(steps_[earlier], step) && (!nested[earlier] || step.tried))
          join(newer, clocks_[earlier]);
      }
      join(clock, clocks_[earlier]);
    }
    if (step.kind == EventKind::Join && step.object < threads && latest[step.object] != kNone)
      join(clock, clocks_[latest[step.object]]);
    if (step.kind == EventKind::Lock) {
      // A wait releases its lock without saying so.
      const auto holder = holders.find(step.object);
      if (holder != holders.end() && holder->second != step.thread && last_wait[holder->second] != kNone)
        join(clock, clocks_[last_wait[holder->second]]);
    }
    clock[step.thread] = own;
    position_[i] = own;
    clocks_[i] = std::move(clock);
    if (!happened) continue;

    latest[step.thread] = i;
    if (step.kind == EventKind::Create && step.object < threads) creation[step.object] = i;
    if (step.kind == EventKind::Wait) last_wait[step.thread] = i;
    if (step.kind == EventKind::Lock) holders[step.object] = step.thread;
    if (step.kind == EventKind::Unlock) holders.erase(step.object);
    if (step.kind == EventKind::LockShared) nested[i] = shares[{step.thread, step.object}]++ > 0;
    if (step.kind == EventKind::UnlockShared)
      if (std::size_t& held = shares[{step.thread, step.object}]; held > 0) --held;
    each_key(step, [&](std::uint64_t key) {
      std::vector<Last>& all = objects[key];
      const auto same = std::ranges::find_if(all, [&](const Last& last) {
        return last.thread == step.thread && last.kind == step.kind && last.object == step.object &&
               last.size == step.size && nested[last.step] == nested[i];
      });
      if (same != all.end()) {
        same->step = i;
      } else {
        all.push_back({step.thread, step.kind, step.object, step.size, i});
      }
    });
  }
}

ThreadSet RaceAnalysis::initials(const ReversibleRace& race) const {
  std::vector<std::size_t> firsts;  // of each thread in notdep(first) . second
  const auto note = [&](std::size_t step) {
    for (const std::size_t first : firsts)
      if (steps_[first].thread == steps_[step].thread) return;
    firsts.push_back(step);
  };
  for (std::size_t i = race.first + 1; i < std::min(race.second, real_); ++i)
    if (!happens_before(race.first, i)) note(i);
  note(race.second);
  ThreadSet initials;
  for (const std::size_t candidate : firsts) {
    const bool led = std::ranges::any_of(firsts, [&](std::size_t other) {
      return other != candidate && other < candidate && happens_before(other, candidate);
    });
    if (!led) initials.insert(steps_[candidate].thread);
  }
  return initials;
}

}  // namespace simrt::schedule
