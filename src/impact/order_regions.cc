#include "impact/order_regions.h"

#include <set>

namespace simrt::impact {
namespace {

constexpr int kLiftDepth = 3;  ///< call levels a wrapper's effect rises

bool is_counted(OrderKind kind) {
  switch (kind) {
    case OrderKind::SemaphoreAcquire:
    case OrderKind::SemaphoreRelease:
    case OrderKind::LatchArrive:
    case OrderKind::LatchWait:
    case OrderKind::BarrierWait:
      return true;
    default:
      return false;
  }
}

}  // namespace

const OrderRegions::Summaries& OrderRegions::summaries() {
  if (!summaries_) summaries_ = std::make_unique<Summaries>(context_);
  return *summaries_;
}

void OrderRegions::earlier(std::uint32_t element, std::uint8_t effects, std::uint32_t cause,
                           Threads threads) {
  if (effects & kOrdersBefore)
    marks_.execution(element, cause, threads);
  else
    marks_.near(element, cause, threads);
}

void OrderRegions::operation(std::uint32_t element, std::uint8_t effects, std::uint32_t cause,
                             int lift_depth) {
  const std::uint32_t function = context_.after.where(element).function;
  const ControlFlow& flow = context_.flow_after(function);
  if (effects & (kOrdersBefore | kWakes)) {
    const std::vector<std::uint32_t> before = flow.elements_from(element, Direction::Backward);
    const Threads threads = summaries().acquires.any(before) ? Threads::All : Threads::Own;
    for (std::uint32_t e : before) earlier(e, effects, cause, threads);
  }
  if (effects & kOrdersAfter)
    for (std::uint32_t e : flow.elements_from(element, Direction::Forward)) marks_.execution(e, cause);
  marks_.element(element, cause);
  wrapper(function, effects, cause, lift_depth);
}

void OrderRegions::wrapper(std::uint32_t function, std::uint8_t effects, std::uint32_t cause,
                           int lift_depth) {
  const bool everywhere = lift_depth == 0 && (effects & kOrdersCallers) != 0;
  if (lift_depth >= kLiftDepth || (!everywhere && !summaries().orders.is_wrapper(function))) return;
  std::set<std::uint32_t> sites;
  for (const CallEdge& edge : context_.calls_after.in(function))
    if (edge.event != kNone && (edge.kind == CallKind::Direct || edge.kind == CallKind::Virtual))
      sites.insert(context_.after.element_of(edge.event));
  for (std::uint32_t site : sites) {
    if (context_.after.where(site).function == function) continue;
    operation(site, effects & static_cast<std::uint8_t>(~kOrdersThreads), cause, lift_depth + 1);
  }
}

void OrderRegions::find_counted() {
  if (counted_known_) return;
  counted_known_ = true;
  for (std::uint32_t event = 0; event < context_.after.event_count(); ++event) {
    const auto* op = std::get_if<OrderOp>(&context_.after.event(event).what);
    if (op && op->object.base && is_counted(op->kind)) counted_[op->object.base].push_back(event);
  }
}

bool OrderRegions::counts(VariableId object) {
  find_counted();
  return counted_.contains(object);
}

void OrderRegions::other_count(VariableId object, std::uint32_t cause) {
  find_counted();
  const auto operations = counted_.find(object);
  if (operations == counted_.end()) return;
  for (std::uint32_t event : operations->second)
    operation(context_.after.element_of(event), order_effects(context_.after.event(event)), cause);
}

}  // namespace simrt::impact
