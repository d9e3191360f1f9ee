#include "schedule/search/search.h"

#include <algorithm>

#include "schedule/search/dependence.h"
#include "schedule/search/untested_orders.h"

namespace simrt::schedule {
namespace {

bool independent(const std::vector<ExecutionEvent>& some, const std::vector<ExecutionEvent>& others) {
  for (const ExecutionEvent& a : some)
    for (const ExecutionEvent& b : others)
      if (dependent(a, b)) return false;
  return true;
}

/// What the chosen thread did at the decision.
std::vector<ExecutionEvent> steps_at(const Execution& execution, std::size_t decision) {
  const std::size_t begin = execution.decisions[decision].event;
  const std::size_t end = decision + 1 < execution.decisions.size() ? execution.decisions[decision + 1].event
                                                                    : execution.events.size();
  std::vector<ExecutionEvent> steps;
  for (std::size_t i = begin; i < end; ++i)
    if (execution.events[i].thread == execution.decisions[decision].chosen)
      steps.push_back(execution.events[i]);
  return steps;
}

/// Number of the decision at which each event was made; SIZE_MAX before the first one.
std::vector<std::size_t> decisions_by_event(const Execution& execution) {
  std::vector<std::size_t> owner(execution.events.size(), SIZE_MAX);
  for (std::size_t d = 0; d < execution.decisions.size(); ++d) {
    const std::size_t end =
        d + 1 < execution.decisions.size() ? execution.decisions[d + 1].event : execution.events.size();
    for (std::size_t i = execution.decisions[d].event; i < end; ++i) owner[i] = d;
  }
  return owner;
}

}  // namespace

Result<SystematicSearch> SystematicSearch::create(SearchOptions options, HapSets learned) {
  const bool partial_order = options.reduction == Reduction::Source;
  if (partial_order && options.preemptions)
    return fail(
        ErrorCode::Usage,
        "partial order reduction cannot be combined with a preemption bound: the one interleaving that "
        "stands for a class of equivalent ones may be over the bound while others of the class are not, "
        "so the class would be missed",
        "use one of the two; HaPSet guidance goes with either");
  if (options.preemptions && *options.preemptions > 4)
    return fail(ErrorCode::Usage, "a preemption bound lies between 0 and 4", "leave it out to have no bound");
  if (options.guided && options.reduction == Reduction::None) options.reduction = Reduction::Conflicts;
  return SystematicSearch(options, std::move(learned));
}

std::optional<Choices> SystematicSearch::next_prefix() {
  if (asked_) return asked_;
  if (!started_) {
    started_ = true;
    return asked_ = Choices{};
  }
  while (!stack_.empty()) {
    Point& point = stack_.back();
    ThreadSet open = point.backtrack.minus(point.done);
    for (const Asleep& asleep : point.asleep) open.erase(asleep.thread);
    if (open.empty()) {
      stack_.pop_back();
      continue;
    }
    if (sleeps() && point.chosen != kNoThread) point.asleep.push_back({point.chosen, std::move(point.steps)});
    point.steps.clear();
    point.chosen = open.first();
    point.done.insert(point.chosen);
    Choices prefix;
    for (const Point& each : stack_) prefix.push_back(each.chosen);
    return asked_ = std::move(prefix);
  }
  report_.finished = true;
  report_.complete = !options_.guided && report_.diverged == 0 && report_.cut == 0;
  return std::nullopt;
}

bool SystematicSearch::follows(const Execution& execution) const {
  if (execution.outcome.end == ExecutionEnd::Diverged) return false;
  if (execution.decisions.size() < stack_.size()) return false;
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    const ExecutionDecision& decision = execution.decisions[i];
    if (decision.chosen != stack_[i].chosen || !(decision.enabled == stack_[i].enabled)) return false;
  }
  return true;
}

void SystematicSearch::learn(const Execution& execution) {
  asked_.reset();
  ++report_.executions;
  report_.failed += execution.outcome.failed() ? 1 : 0;
  if (!follows(execution)) {
    ++report_.diverged;
    // Nobody knows what the step would have been, so it cannot sleep.
    if (!stack_.empty()) stack_.back().chosen = kNoThread;
    return;
  }
  report_.cut += execution.outcome.end == ExecutionEnd::Cut ? 1 : 0;
  const std::size_t from = stack_.empty() ? 0 : stack_.size() - 1;
  const std::size_t until = extend(execution);
  if (until < execution.decisions.size()) ++report_.redundant;
  if (options_.guided) {
    try_untested(execution, from);
    hapsets_.learn(execution);
  } else if (reduces()) {
    reverse_races(execution, from, until);
  }
}

SystematicSearch::Point SystematicSearch::make_point(const Execution& execution, std::size_t depth) const {
  Point point;
  point.enabled = execution.decisions[depth].enabled;
  point.chosen = execution.decisions[depth].chosen;
  if (depth > 0) {
    const Point& parent = stack_[depth - 1];
    const bool gave_way = !parent.steps.empty() && parent.steps.back().kind == EventKind::Yield;
    point.running = gave_way ? kNoThread : parent.chosen;
    point.preemptions = preemptions_with(parent, parent.chosen);
    for (const Asleep& asleep : parent.asleep)
      if (asleep.thread != parent.chosen && independent(asleep.steps, parent.steps))
        point.asleep.push_back(asleep);
  }
  return point;
}

std::size_t SystematicSearch::extend(const Execution& execution) {
  if (!stack_.empty()) stack_.back().steps = steps_at(execution, stack_.size() - 1);
  for (std::size_t depth = stack_.size(); depth < execution.decisions.size(); ++depth) {
    Point point = make_point(execution, depth);
    ThreadSet sleeping;
    for (const Asleep& asleep : point.asleep) sleeping.insert(asleep.thread);
    if (sleeping.contains(point.chosen)) {
      // From here on the run repeats one that was explored. Somebody who is awake goes on instead, if there
      // is one.
      const ThreadSet awake = point.enabled.minus(sleeping);
      if (!awake.empty()) point.backtrack.insert(awake.first());
      point.chosen = kNoThread;
      stack_.push_back(std::move(point));
      return depth;
    }
    point.done.insert(point.chosen);
    point.backtrack = options_.reduction == Reduction::None ? within_bound(point) : ThreadSet();
    point.backtrack.insert(point.chosen);
    point.steps = steps_at(execution, depth);
    stack_.push_back(std::move(point));
  }
  return execution.decisions.size();
}

unsigned SystematicSearch::preemptions_with(const Point& point, ThreadIndex thread) const {
  const bool preempts =
      point.running != kNoThread && point.running != thread && point.enabled.contains(point.running);
  return point.preemptions + (preempts ? 1u : 0u);
}

ThreadSet SystematicSearch::within_bound(const Point& point) const {
  if (!options_.preemptions) return point.enabled;
  ThreadSet allowed;
  for (ThreadIndex thread = 0; thread < 64; ++thread)
    if (point.enabled.contains(thread) && preemptions_with(point, thread) <= *options_.preemptions)
      allowed.insert(thread);
  return allowed;
}

void SystematicSearch::reverse_races(const Execution& execution, std::size_t from, std::size_t until) {
  const RaceAnalysis analysis(execution);
  const std::vector<std::size_t> owner = decisions_by_event(execution);
  for (const ReversibleRace& race : analysis.races()) {
    const bool happened = race.second < execution.events.size();
    const std::size_t made = happened ? owner[race.second] : execution.decisions.size();
    // Earlier ones were looked at with the run that made them; later ones belong to a run that was explored.
    if (happened ? made == SIZE_MAX || made < from || made >= until : until != execution.decisions.size())
      continue;
    const std::size_t at = owner[race.first];
    if (at == SIZE_MAX || at >= stack_.size() || (happened && at == made)) continue;
    if (options_.reduction == Reduction::Source && !race.immediate) continue;
    add_backtrack(stack_[at], analysis, race);
  }
}

void SystematicSearch::try_untested(const Execution& execution, std::size_t from) {
  if (execution.decisions.empty()) return;
  const RaceAnalysis analysis(execution);
  const std::vector<std::size_t> owner = decisions_by_event(execution);
  const UntestedOrders untested =
      untested_orders(execution, analysis, hapsets_, execution.decisions[from].event);
  report_.pruned += untested.tested;
  for (const auto& [first, second] : untested.orders) {
    const std::size_t at = owner[first];
    if (at == SIZE_MAX || at >= stack_.size()) continue;
    Point& point = stack_[at];
    const ThreadIndex wanted = analysis.step(second).thread;
    if (options_.reduction == Reduction::Conflicts) {
      point.backtrack = point.backtrack | within_bound(point);
    } else if (point.enabled.contains(wanted)) {
      point.backtrack.insert(wanted);
    } else {
      // Somebody whose step the wanted one waits for; nobody known: all (the paper's algorithm 3).
      ThreadIndex helper = kNoThread;
      for (std::size_t i = first + 1; i < std::min(second, execution.events.size()) && helper == kNoThread;
           ++i)
        if (point.enabled.contains(analysis.step(i).thread) && analysis.step(i).thread != point.chosen &&
            analysis.happens_before(i, second))
          helper = analysis.step(i).thread;
      if (helper != kNoThread) {
        point.backtrack.insert(helper);
      } else {
        point.backtrack = point.backtrack | point.enabled;
      }
    }
  }
}

void SystematicSearch::add_backtrack(Point& point, const RaceAnalysis& analysis, const ReversibleRace& race) {
  if (options_.reduction == Reduction::Conflicts) {
    point.backtrack = point.backtrack | within_bound(point);
    return;
  }
  const ThreadSet wanted = analysis.initials(race);
  if (!(wanted & point.backtrack).empty()) return;
  const ThreadSet possible = wanted & point.enabled;
  if (possible.empty()) {
    point.backtrack = point.backtrack | point.enabled;
    return;
  }
  const ThreadIndex racing = analysis.step(race.second).thread;
  point.backtrack.insert(possible.contains(racing) ? racing : possible.first());
}

}  // namespace simrt::schedule
