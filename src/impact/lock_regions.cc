#include "impact/lock_regions.h"

#include <algorithm>
#include <span>
#include <vector>

namespace simrt::impact {
namespace {

constexpr int kMaxCallers = 3;  ///< levels of functions that return with a lock

/// Touches are in order of elements.
std::span<const LockTouch> touches_at(const Locksets& locks, std::uint32_t function, std::uint32_t element) {
  const auto all = locks.touches(function);
  const auto before = [](const LockTouch& touch, std::uint32_t wanted) { return touch.element < wanted; };
  const auto first = std::lower_bound(all.begin(), all.end(), element, before);
  const auto last = std::lower_bound(first, all.end(), element + 1, before);
  return {first, last};
}

bool releases(const LockTouch& touch) {
  return touch.action == LockAction::Release || touch.action == LockAction::GuardRelease;
}

}  // namespace

void LockRegions::mark(std::uint32_t element, std::uint32_t cause, bool conditional) {
  const std::uint32_t function = context_.after.where(element).function;
  if (!context_.locks_after.relevant(function)) return;
  for (const LockTouch& touch : touches_at(context_.locks_after, function, element)) {
    // A guard gives back what it was bound to; a lock that a callee lends is back when it returns.
    if (touch.lent || touch.action == LockAction::GuardRelease || touch.action == LockAction::GuardMove)
      continue;
    const bool release = touch.action == LockAction::Release;
    const Range events = context_.after.events_of_element(element);
    Walk region{touch.lock, cause, conditional, release, true, 0};
    // Taken where the caller would hold it already: so the caller does not.
    if (!release && events.size() != 0) region.assumed = !held(events.begin, region);
    walk(element, region);
  }
}

bool LockRegions::held(std::uint32_t event, const Walk& walk) const {
  const Lockset& locks = context_.lock_names.set(context_.locks_after.at(event));
  return std::any_of(locks.begin(), locks.end(), [&](const Held& one) {
    return one.lock == walk.lock && (walk.assumed || !one.assumed);
  });
}

bool LockRegions::ends_at(std::uint32_t element, const Walk& walk) const {
  const std::uint32_t function = context_.after.where(element).function;
  const auto touches = touches_at(context_.locks_after, function, element);
  return std::any_of(touches.begin(), touches.end(), [&](const LockTouch& touch) {
    if (touch.lent || (!walk.until_taken && !releases(touch))) return false;
    if (touch.lock == walk.lock) return true;
    // Callers have a name of their own for it.
    const VariableId variable = context_.lock_names.variable(walk.lock);
    return walk.depth > 0 && (!variable || variable == context_.lock_names.variable(touch.lock));
  });
}

/// False where the walk ends.
bool LockRegions::visit(std::uint32_t element, const Walk& walk) {
  const Range events = context_.after.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    if (walk.conditional && held(event, walk)) continue;
    const Call* call = std::get_if<Call>(&context_.after.event(event).what);
    if (call && call->kind != CallKind::Spawn) marks_.callees(event, walk.cause, Threads::Own);
    marks_.event(event, walk.cause);
  }
  return !ends_at(element, walk);
}

void LockRegions::walk(std::uint32_t element, const Walk& walk) {
  auto& walked = walk.conditional ? walked_conditionally_ : walked_;
  if (!walked.insert({element, walk.lock}).second) return;
  const ProgramIndex& after = context_.after;
  const ElementRef home = after.where(element);
  const ControlFlow& flow = context_.flow_after(home.function);
  const std::uint32_t exit = after.block_position(home.function, after.function(home.function).exit);
  std::vector<bool> seen(after.function(home.function).blocks.size(), false);
  std::vector<std::uint32_t> work;
  bool returns = false;
  const auto run = [&](std::uint32_t block, std::uint32_t first) {
    const Range elements = after.elements_of_block(home.function, block);
    for (std::uint32_t e = first; e < elements.end; ++e)
      if (!visit(e, walk)) return;
    returns = returns || block == exit;
    for (std::uint32_t next : flow.successors(block))
      if (!seen[next]) seen[next] = true, work.push_back(next);
  };
  run(home.block, element + 1);
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    run(block, after.elements_of_block(home.function, block).begin);
  }
  if (returns) into_callers(home.function, walk);
}

void LockRegions::into_callers(std::uint32_t function, const Walk& walk) {
  if (walk.depth >= kMaxCallers) return;
  const LockSummary& summary = context_.locks_after.summary(function);
  const bool certain = std::any_of(summary.acquires.begin(), summary.acquires.end(),
                                   [&](const Held& held) { return held.lock == walk.lock; });
  const bool lent = std::binary_search(summary.lends.begin(), summary.lends.end(), walk.lock);
  if (walk.conditional && (certain || lent)) return;
  Walk outer = walk;
  outer.assumed = false;
  ++outer.depth;
  for (const CallEdge& edge : context_.calls_after.in(function))
    if (edge.event != kNone && context_.calls_after.is_function(edge.caller) &&
        (edge.kind == CallKind::Direct || edge.kind == CallKind::Virtual))
      this->walk(context_.after.element_of(edge.event), outer);
}

}  // namespace simrt::impact
