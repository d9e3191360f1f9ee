#include "schedule/search/search.h"

#include <algorithm>

#include "schedule/search/dependence.h"

namespace simrt::schedule {
namespace {

bool independent(const std::vector<ExecutionEvent>& some, const std::vector<ExecutionEvent>& others) {
  for (const ExecutionEvent& a : some)
    for (const ExecutionEvent& b : others)
      if (dependent(a, b)) return false;
  return true;
}

/// What the chosen thread did at the decision.
std::shared_ptr<const std::vector<ExecutionEvent>> steps_at(const Execution& execution,
                                                            std::size_t decision) {
  const std::size_t begin = execution.decisions[decision].event;
  const std::size_t end = decision + 1 < execution.decisions.size() ? execution.decisions[decision + 1].event
                                                                    : execution.events.size();
  std::vector<ExecutionEvent> steps;
  for (std::size_t i = begin; i < end; ++i)
    if (execution.events[i].thread == execution.decisions[decision].chosen)
      steps.push_back(execution.events[i]);
  return std::make_shared<const std::vector<ExecutionEvent>>(std::move(steps));
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
  if (auto prefix = tree_.next()) return asked_ = std::move(prefix);
  report_.finished = true;
  report_.complete = !options_.guided && report_.diverged == 0 && report_.cut == 0;
  return std::nullopt;
}

bool SystematicSearch::follows(const Execution& execution) const {
  if (execution.outcome.end == ExecutionEnd::Diverged) return false;
  if (execution.decisions.size() < tree_.depth()) return false;
  for (std::size_t i = 0; i < tree_.depth(); ++i) {
    const ExecutionDecision& decision = execution.decisions[i];
    if (decision.chosen != tree_.choice(i) || !(decision.enabled == tree_.at(i).enabled)) return false;
  }
  return true;
}

void SystematicSearch::learn(const Execution& execution) {
  asked_.reset();
  ++report_.executions;
  report_.failed += execution.outcome.failed() ? 1 : 0;
  if (!follows(execution)) {
    ++report_.diverged;  // nobody knows what the step would have been, so it cannot sleep
    return;
  }
  report_.cut += execution.outcome.end == ExecutionEnd::Cut ? 1 : 0;
  const std::size_t from = tree_.depth() == 0 ? 0 : tree_.depth() - 1;
  const std::size_t until = extend(execution);
  if (until < execution.decisions.size()) ++report_.redundant;
  if (options_.guided) {
    try_untested(execution, from);
    hapsets_.learn(execution);
  } else if (reduces()) {
    reverse_races(execution, from, until);
  }
}

SearchPoint SystematicSearch::make_point(const Execution& execution, std::size_t depth) const {
  SearchPoint point;
  point.enabled = execution.decisions[depth].enabled;
  if (depth == 0) return point;
  const SearchPoint& parent = tree_.at(depth - 1);
  const ThreadIndex chosen = tree_.choice(depth - 1);
  const std::vector<ExecutionEvent>& steps = *parent.tried.back().steps;
  const bool gave_way = !steps.empty() && steps.back().kind == EventKind::Yield;
  point.running = gave_way ? kNoThread : chosen;
  point.preemptions = preemptions_with(parent, chosen);
  if (!sleeps()) return point;
  for (const auto* sleepers : {&parent.asleep, &parent.tried})
    for (const Asleep& asleep : *sleepers)
      if (asleep.thread != chosen && independent(*asleep.steps, steps)) point.asleep.push_back(asleep);
  return point;
}

std::size_t SystematicSearch::extend(const Execution& execution) {
  const auto note_tried = [&](std::size_t depth) {
    std::vector<Asleep>& tried = tree_.at(depth).tried;
    if (!sleeps()) tried.clear();  // only the last one is asked for
    tried.push_back({execution.decisions[depth].chosen, steps_at(execution, depth)});
  };
  if (tree_.depth() > 0) note_tried(tree_.depth() - 1);
  for (std::size_t depth = tree_.depth(); depth < execution.decisions.size(); ++depth) {
    SearchPoint point = make_point(execution, depth);
    const ThreadIndex chosen = execution.decisions[depth].chosen;
    ThreadSet sleeping;
    for (const Asleep& asleep : point.asleep) sleeping.insert(asleep.thread);
    if (sleeping.contains(chosen)) {
      // From here on the run repeats one that was explored. Somebody who is awake goes on instead, if there
      // is one.
      const ThreadSet awake = point.enabled.minus(sleeping);
      if (!awake.empty()) point.backtrack.insert(awake.first());
      tree_.push(std::move(point), kNoThread);
      return depth;
    }
    point.done.insert(chosen);
    point.backtrack = options_.reduction == Reduction::None ? within_bound(point) : ThreadSet();
    point.backtrack.insert(chosen);
    tree_.push(std::move(point), chosen);
    note_tried(depth);
  }
  return execution.decisions.size();
}

unsigned SystematicSearch::preemptions_with(const SearchPoint& point, ThreadIndex thread) const {
  const bool preempts =
      point.running != kNoThread && point.running != thread && point.enabled.contains(point.running);
  return point.preemptions + (preempts ? 1u : 0u);
}

ThreadSet SystematicSearch::within_bound(const SearchPoint& point) const {
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
    if (at == SIZE_MAX || at >= tree_.depth() || (happened && at == made)) continue;
    if (options_.reduction == Reduction::Source && !race.immediate) continue;
    add_backtrack(tree_.at(at), analysis, race);
  }
}

void SystematicSearch::try_untested(const Execution& execution, std::size_t from) {
  if (execution.decisions.empty()) return;
  const RaceAnalysis analysis(execution);
  const std::vector<std::size_t> owner = decisions_by_event(execution);
  const UntestedOrders untested =
      untested_orders(execution, analysis, hapsets_, execution.decisions[from].event, options_.novelty);
  report_.pruned += untested.tested;
  for (const auto& [first, second] : untested.orders) {
    const std::size_t at = owner[first];
    if (at == SIZE_MAX || at >= tree_.depth()) continue;
    SearchPoint& point = tree_.at(at);
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
        if (point.enabled.contains(analysis.step(i).thread) && analysis.step(i).thread != tree_.choice(at) &&
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

void SystematicSearch::add_backtrack(SearchPoint& point, const RaceAnalysis& analysis,
                                     const ReversibleRace& race) {
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
