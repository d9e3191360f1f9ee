#include "pipeline/check/lost_wakeup.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace simrt::pipeline {
namespace {

using format::EventKind;
using format::RunEvent;
using testing::Execution;

struct Wait {
  const RunEvent* event;
  std::uint64_t mutex;  // 0: not seen
};

struct Notification {
  const RunEvent* event;
  std::vector<std::uint64_t> held;
};

struct OfCondition {
  std::vector<Wait> waits;
  std::vector<Notification> notifications;
};

EventKind kind_of(const RunEvent& event) { return static_cast<EventKind>(event.kind); }

/// In the order in which the condition variables were first touched.
std::vector<OfCondition> by_condition(const Execution& execution) {
  std::vector<OfCondition> all;
  std::map<std::uint64_t, std::size_t> index;
  std::map<std::uint16_t, std::vector<std::uint64_t>> held;  // by thread
  const auto of = [&](const RunEvent& event) -> OfCondition& {
    const auto [at, fresh] = index.try_emplace(event.object, all.size());
    if (fresh) all.emplace_back();
    return all[at->second];
  };
  std::vector<Wait> waits;
  std::map<std::uint16_t, std::size_t> waiting;  // by thread: its wait, whose mutex is the next one released
  for (const RunEvent& event : execution.events) {
    auto& locks = held[event.thread];
    switch (kind_of(event)) {
      case EventKind::Lock:
      case EventKind::LockShared:
        locks.push_back(event.object);
        break;
      case EventKind::Unlock:
      case EventKind::UnlockShared:
        if (const auto at = waiting.find(event.thread); at != waiting.end()) {
          waits[at->second].mutex = event.object;
          waiting.erase(at);
        }
        if (const auto at = std::find(locks.rbegin(), locks.rend(), event.object); at != locks.rend())
          locks.erase(std::next(at).base());
        break;
      case EventKind::Wait:
        waiting[event.thread] = waits.size();
        waits.push_back({&event, 0});
        break;
      case EventKind::Notify:
      case EventKind::NotifyAll:
        of(event).notifications.push_back({&event, locks});
        break;
      default:
        break;
    }
  }
  for (const Wait& wait : waits) of(*wait.event).waits.push_back(wait);
  return all;
}

class Pairing {
 public:
  Pairing(const Execution& execution, Symbols& symbols) : execution_(execution), symbols_(symbols) {}

  std::vector<Candidate> take() {
    for (const OfCondition& condition : by_condition(execution_))
      for (const Wait& wait : condition.waits)
        for (const Notification& notification : condition.notifications) add(wait, notification);
    return std::move(all_);
  }

 private:
  void add(const Wait& wait, const Notification& notification) {
    const RunEvent &waits = *wait.event, &notifies = *notification.event;
    if (all_.size() >= kMostLostWakeups || waits.thread == notifies.thread) return;
    const auto& held = notification.held;
    if (wait.mutex != 0 && std::find(held.begin(), held.end(), wait.mutex) != held.end()) return;
    if (!met_.insert({waits.pc, waits.calls, notifies.pc, notifies.calls}).second) return;
    const auto waits_at = execution_.site_of(waits.pc), notifies_at = execution_.site_of(notifies.pc);
    if (!waits_at || !notifies_at) return;
    Candidate candidate;
    candidate.weak = true;
    candidate.modules = execution_.module_names();
    candidate.steps = {{*notifies_at, kind_of(notifies), 0, 0, format::kPlanNone, 0, notifies.calls},
                       {*waits_at, kind_of(waits), 1, 0, format::kPlanNone, 0, waits.calls}};
    Finding& finding = candidate.finding;
    finding.kind = FindingKind::Hang;
    finding.evidence = "the notification can come before the wait";
    finding.sides = {side(waits), side(notifies)};
    finding.variable = finding.sides[0].object;
    candidate.fingerprint = fingerprint(finding);
    all_.push_back(std::move(candidate));
  }

  FindingSide side(const RunEvent& event) {
    FindingSide side;
    side.kind = step_kind(kind_of(event));
    side.stack = symbols_.stack(execution_, execution_.stack_of(event));
    side.thread = symbols_.role(execution_, event.thread);
    side.object = symbols_.variable(execution_, event.object, side.stack);
    return side;
  }

  const Execution& execution_;
  Symbols& symbols_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>> met_;
  std::vector<Candidate> all_;
};

}  // namespace

std::vector<Candidate> lost_wakeups_of(const Execution& execution, Symbols& symbols) {
  symbols.learn(execution, false);
  return Pairing(execution, symbols).take();
}

}  // namespace simrt::pipeline
