#include "schedule/delays.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "schedule/occurrences.h"
#include "schedule/search/dependence.h"

namespace simrt::schedule {
namespace {

constexpr std::size_t kMostBetween = 8;

struct Found {
  Delay delay;
  std::size_t event;
  bool before_free;  ///< the other thread frees the memory
};

bool conflicting(EventKind one, EventKind other) {
  ExecutionEvent a, b;
  a.kind = one;
  b.kind = other;
  return dependent(a, b) && may_be_coenabled(a, b);
}

void collect(const Occurrences& occurrences, const std::vector<Occurrence>& steps,
             std::vector<Found>& found) {
  for (const Occurrence& step : steps)
    for (const Occurrence& other : steps) {
      if (step.kind == EventKind::Free) continue;  // no scheduling point
      if (step.thread == other.thread || !conflicting(step.kind, other.kind)) continue;
      if (occurrences.must_precede(step, other) || occurrences.must_precede(other, step)) continue;
      if (occurrences.under_common_lock(step, other)) continue;
      const bool alike = occurrences.likeness_of(step.thread) == occurrences.likeness_of(other.thread);
      found.push_back({{.thread = step.thread,
                        .points = step.points,
                        .site = step.site,
                        .kind = step.kind,
                        .other = other.thread,
                        .until = other.points + (other.kind == EventKind::Free ? 0 : 1),
                        .occurrence = 0,
                        .splits = false,
                        .alike = alike,
                        .again = false,
                        .between = {}},
                       step.event,
                       other.kind == EventKind::Free});
    }
}

/// Which of a thread's steps before another one's these are, and the how manieth.
void number(std::vector<Found>& found) {
  std::map<std::pair<ThreadIndex, ThreadIndex>, std::size_t> first;
  std::map<std::tuple<ThreadIndex, ThreadIndex, SiteId, EventKind>, std::set<std::size_t>> times;
  for (Found& each : found) {
    Delay& delay = each.delay;
    const auto earliest = first.try_emplace({delay.thread, delay.other}, each.event).first;
    delay.splits = earliest->second < each.event;
    auto& same = times[{delay.thread, delay.other, delay.site, delay.kind}];
    same.insert(each.event);
    delay.occurrence = static_cast<std::uint32_t>(same.size() - 1);
  }
}

/// Where the other thread may stop between two of its steps that conflict with the delayed one.
void find_between(std::vector<Found>& found) {
  std::map<std::tuple<ThreadIndex, std::size_t, ThreadIndex>, std::set<std::uint64_t>> ends;
  for (const Found& each : found)
    ends[{each.delay.thread, each.event, each.delay.other}].insert(each.delay.until);
  for (Found& each : found) {
    std::set<std::uint64_t> own = ends.at({each.delay.thread, each.event, each.delay.other});
    own.erase(std::prev(own.end()));  // behind its last step it may as well go to its end
    own.erase(each.delay.until);
    for (bool late = true; !own.empty() && each.delay.between.size() < kMostBetween; late = !late)
      each.delay.between.push_back(own.extract(late ? std::prev(own.end()) : own.begin()).value());
  }
}

/// One of each kind stays: threads that do the same stand for each other.
void keep_kinds(const Occurrences& occurrences, std::vector<Found>& found) {
  std::set<std::tuple<SiteId, EventKind, std::uint32_t, std::size_t, std::size_t>> kinds;
  std::erase_if(found, [&](const Found& each) {
    const Delay& delay = each.delay;
    return !kinds
                .insert({delay.site, delay.kind, delay.occurrence, occurrences.likeness_of(delay.thread),
                         occurrences.likeness_of(delay.other)})
                .second;
  });
}

/// By tiers; in each the threads in turn, of each the earliest step, the latest one, the next but earliest
/// ... Of the accesses to a block, before its free, the latest comes first: what hands the block over lies
/// behind it.
std::vector<Delay> in_order(std::vector<Found> found) {
  std::ranges::stable_sort(found, {}, [](const Found& each) { return each.delay.tier(); });
  std::set<std::pair<ThreadIndex, std::size_t>> steps;
  for (Found& each : found) each.delay.again = !steps.insert({each.delay.thread, each.event}).second;
  std::ranges::stable_sort(found, {}, &Found::event);
  struct List {
    std::deque<Delay> delays;
    bool late = false;
  };
  std::map<unsigned, std::map<std::pair<bool, ThreadIndex>, List>> tiers;
  for (const Found& each : found) {
    List& list = tiers[each.delay.tier()][{each.before_free, each.delay.thread}];
    list.delays.push_back(each.delay);
    list.late = each.before_free;
  }
  std::vector<Delay> delays;
  for (auto& [tier, lists] : tiers)
    while (!lists.empty())
      for (auto at = lists.begin(); at != lists.end();) {
        auto& [own, late] = at->second;
        delays.push_back(late ? own.back() : own.front());
        late ? own.pop_back() : own.pop_front();
        late = !late;
        at = own.empty() ? lists.erase(at) : std::next(at);
      }
  return delays;
}

}  // namespace

std::vector<Delay> delays_of(const Execution& execution) {
  const Occurrences occurrences(execution, true);
  std::vector<Found> found;
  for (const VariableNumber variable : occurrences.representatives())
    collect(occurrences, occurrences.of(variable), found);
  for (const std::vector<Occurrence>& all : occurrences.operations()) collect(occurrences, all, found);
  std::ranges::stable_sort(found, {}, &Found::event);
  number(found);
  find_between(found);
  keep_kinds(occurrences, found);
  return in_order(std::move(found));
}

}  // namespace simrt::schedule
