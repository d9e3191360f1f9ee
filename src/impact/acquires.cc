#include "impact/acquires.h"

#include <algorithm>

#include "impact/order_effects.h"

namespace simrt::impact {
namespace {

bool is_acquire(const Event& event) {
  if (const auto* lock = std::get_if<LockOp>(&event.what)) return lock->action != LockAction::Release;
  if (const auto* op = std::get_if<OrderOp>(&event.what); op && op->kind == OrderKind::ThreadSpawn)
    return false;
  return (order_effects(event) & kOrdersAfter) != 0;
}

}  // namespace

Acquires::Acquires(const ProgramIndex& index, const CallGraph& calls)
    : index_(index), calls_(calls), acquires_(calls.node_count(), false) {
  std::vector<std::uint32_t> found;
  const auto add = [&](std::uint32_t node) {
    if (!acquires_[node]) acquires_[node] = true, found.push_back(node);
  };
  for (std::uint32_t event = 0; event < index.event_count(); ++event) {
    if (is_acquire(index.event(event))) add(index.function_of_event(event));
    const auto* op = std::get_if<OrderOp>(&index.event(event).what);
    futures_ |= op && op->kind == OrderKind::FutureGet;
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const CallEdge& edge : calls.in(found[i]))
      if (!calls.starts_thread(edge)) add(edge.caller);
}

bool Acquires::element(std::uint32_t element) const {
  const Range events = index_.events_of_element(element);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    if (is_acquire(index_.event(event))) return true;
    for (const CallEdge& edge : calls_.edges_of(event, index_.where(element).function))
      if (!calls_.starts_thread(edge) && acquires_[edge.callee]) return true;
  }
  return false;
}

bool Acquires::any(const std::vector<std::uint32_t>& elements) const {
  return futures_ ||
         std::any_of(elements.begin(), elements.end(), [&](std::uint32_t e) { return element(e); });
}

}  // namespace simrt::impact
