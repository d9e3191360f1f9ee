#include "impact/lock_inheritance.h"

#include "impact/control_flow.h"

namespace simrt::impact {
namespace {

bool acquires(LockAction action) {
  return action == LockAction::Acquire || action == LockAction::TryAcquire ||
         action == LockAction::GuardBind || action == LockAction::GuardDefer ||
         action == LockAction::GuardAdopt || action == LockAction::GuardAcquire ||
         action == LockAction::GuardMove;
}

}  // namespace

bool LockInheritance::may_hold(std::uint32_t lock, std::uint32_t function) const {
  if (!names_.variable(lock)) return true;
  auto known = known_.find(lock);
  if (known == known_.end()) known = known_.emplace(lock, callable_under(lock)).first;
  return known->second[function] || calls_.in(function).empty();
}

std::vector<bool> LockInheritance::callable_under(std::uint32_t lock) const {
  std::vector<std::uint32_t> callees;
  for (std::uint32_t f = 0; f < index_.function_count(); ++f)
    if (locks_.relevant(f)) add_calls_behind(f, lock, callees);
  std::vector<bool> under(index_.function_count(), false);
  for (std::uint32_t f : calls_.closure(callees))
    if (calls_.is_function(f)) under[f] = true;
  return under;
}

void LockInheritance::add_calls_behind(std::uint32_t function, std::uint32_t lock,
                                       std::vector<std::uint32_t>& callees) const {
  std::unique_ptr<ControlFlow> flow;
  std::vector<bool> behind;
  const Range elements = index_.elements_of(function);
  for (const LockTouch& touch : locks_.touches(function)) {
    // A lent lock is held behind the call only if it was before.
    if (touch.lent || !acquires(touch.action)) continue;
    if (!names_.may_be_one(touch.lock, lock)) continue;
    if (!flow) {
      flow = std::make_unique<ControlFlow>(index_, function);
      behind.assign(elements.size(), false);
    }
    behind[touch.element - elements.begin] = true;  // the same element may go on to call
    for (std::uint32_t element : flow->elements_from(touch.element, Direction::Forward))
      behind[element - elements.begin] = true;
  }
  if (!flow) return;
  for (const CallEdge& edge : calls_.out(function))
    if (edge.event != kNone && edge.kind != CallKind::Spawn && edge.kind != CallKind::Callback &&
        behind[index_.element_of(edge.event) - elements.begin])
      callees.push_back(edge.callee);
}

}  // namespace simrt::impact
