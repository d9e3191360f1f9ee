#include "impact/order_effects.h"

#include <algorithm>

namespace simrt::impact {
namespace {

constexpr std::uint32_t kWrapperElements = 12;  ///< a wrapper has at most so many statements
constexpr int kWrapperDepth = 3;                ///< wrappers of wrappers

std::uint8_t effects_of_order(MemoryOrder order) {
  switch (order) {
    case MemoryOrder::Acquire:
      return kOrdersAfter;
    case MemoryOrder::Release:
      return kOrdersBefore;
    case MemoryOrder::AcqRel:
    case MemoryOrder::SeqCst:
      return kOrdersBefore | kOrdersAfter;
    default:
      return kNoOrder;
  }
}

std::uint8_t effects_of_kind(OrderKind kind) {
  switch (kind) {
    case OrderKind::Fence:
      return kOrdersBefore | kOrdersAfter;
    case OrderKind::ConditionWait:
      return kOrdersBefore | kOrdersAfter;  // gives the lock away and takes it back
    case OrderKind::NotifyOne:
    case OrderKind::NotifyAll:
    case OrderKind::AtomicNotify:
      return kWakes;
    case OrderKind::SemaphoreRelease:
    case OrderKind::LatchArrive:
    case OrderKind::PromiseSet:
      return kOrdersBefore;
    case OrderKind::SemaphoreAcquire:
    case OrderKind::LatchWait:
    case OrderKind::AtomicWait:
      return kOrdersAfter;
    case OrderKind::FutureGet:
      return kOrdersAfter | kOrdersThreads | kOrdersCallers;
    case OrderKind::BarrierWait:
    case OrderKind::StaticInit:
    case OrderKind::OnceCall:
      return kOrdersBefore | kOrdersAfter;
    case OrderKind::ThreadSpawn:
      return kOrdersBefore | kOrdersAfter | kOrdersThreads;
    case OrderKind::ThreadJoin:
    case OrderKind::ThreadDetach:
      return kOrdersAfter | kOrdersThreads | kOrdersCallers;
  }
  return kNoOrder;
}

const char* name_of(OrderKind kind) {
  switch (kind) {
    case OrderKind::Fence:
      return "fence";
    case OrderKind::ConditionWait:
      return "wait on";
    case OrderKind::NotifyOne:
    case OrderKind::NotifyAll:
      return "notification of";
    case OrderKind::SemaphoreAcquire:
      return "acquire of semaphore";
    case OrderKind::SemaphoreRelease:
      return "release of semaphore";
    case OrderKind::LatchArrive:
      return "arrival at latch";
    case OrderKind::LatchWait:
      return "wait on latch";
    case OrderKind::BarrierWait:
      return "wait on barrier";
    case OrderKind::OnceCall:
      return "call once through";
    case OrderKind::ThreadSpawn:
      return "start of thread";
    case OrderKind::ThreadJoin:
      return "join of";
    case OrderKind::ThreadDetach:
      return "detach of";
    case OrderKind::FutureGet:
      return "get from future";
    case OrderKind::PromiseSet:
      return "setting of promise";
    case OrderKind::AtomicWait:
      return "wait on atomic";
    case OrderKind::AtomicNotify:
      return "notification of atomic";
    case OrderKind::StaticInit:
      return "thread-safe initialisation of";
  }
  return "ordering operation";
}

const char* name_of(MemoryOrder order) {
  switch (order) {
    case MemoryOrder::Relaxed:
      return "relaxed";
    case MemoryOrder::Acquire:
      return "acquire";
    case MemoryOrder::Release:
      return "release";
    case MemoryOrder::AcqRel:
      return "acq_rel";
    case MemoryOrder::SeqCst:
      return "seq_cst";
    default:
      return "plain";
  }
}

}  // namespace

std::uint8_t order_effects(const Event& event) {
  if (const auto* op = std::get_if<OrderOp>(&event.what)) {
    if (op->kind == OrderKind::Fence && op->order != MemoryOrder::NotAtomic)
      return effects_of_order(op->order);
    return effects_of_kind(op->kind);
  }
  if (const auto* access = std::get_if<Access>(&event.what)) {
    const std::uint8_t wanted = access->mode == AccessMode::Read ? kOrdersAfter : kOrdersBefore;
    return effects_of_order(access->order) & wanted;
  }
  return kNoOrder;
}

std::string describe_order(const Program& program, const Event& event) {
  if (const auto* op = std::get_if<OrderOp>(&event.what)) {
    std::string text = name_of(op->kind);
    if (op->kind == OrderKind::Fence) return std::string(name_of(op->order)) + " fence";
    if (const VariableFacts* object = program.variable(op->object.base)) text += " " + object->name;
    return text;
  }
  const auto& access = std::get<Access>(event.what);
  return std::string(name_of(access.order)) + (access.mode == AccessMode::Read ? " load of " : " store to ") +
         program.name_of(access.place.base);
}

bool OrderSummaries::is_wrapper(std::uint32_t function) const {
  return index_.elements_of(function).size() <= kWrapperElements &&
         !index_.function(function).has(kStaticInit);
}

std::uint8_t OrderSummaries::of_function(std::uint32_t function, int depth) const {
  if (const auto known = memo_.find(function); known != memo_.end()) return known->second;
  if (depth > kWrapperDepth || !is_wrapper(function)) return kNoOrder;
  memo_[function] = kNoOrder;  // recursion ends here
  std::uint8_t effects = kNoOrder;
  const Range events = index_.events_of(function);
  for (std::uint32_t event = events.begin; event < events.end; ++event) {
    effects |= order_effects(index_.event(event));
    if (!std::holds_alternative<Call>(index_.event(event).what)) continue;
    for (const CallEdge& edge : calls_.edges_of(event, function))
      if (edge.kind == CallKind::Direct && calls_.is_function(edge.callee))
        effects |= of_function(edge.callee, depth + 1);
  }
  return memo_[function] = effects;
}

std::uint8_t OrderSummaries::of_call(std::uint32_t call_event) const {
  std::uint8_t effects = kNoOrder;
  for (const CallEdge& edge : calls_.edges_of(call_event, index_.function_of_event(call_event)))
    if ((edge.kind == CallKind::Direct || edge.kind == CallKind::Virtual) && calls_.is_function(edge.callee))
      effects |= of_function(edge.callee, 0);
  return effects & static_cast<std::uint8_t>(~kOrdersThreads);
}

/// Thread objects by the element that starts the thread: the object of the start, the receiver, or what it is
/// stored to.
void OrderSummaries::collect_entries() const {
  collected_ = true;
  for (std::uint32_t event = 0; event < index_.event_count(); ++event) {
    const Call* call = std::get_if<Call>(&index_.event(event).what);
    if (!call || (call->kind != CallKind::Spawn && call->kind != CallKind::Callback)) continue;
    if (call->kind == CallKind::Callback && !calls_.hands_to_spawner(event)) continue;
    const std::uint32_t function = index_.function_of_event(event);
    for (const CallEdge& edge : calls_.edges_of(event, function)) {
      entries_by_function_[function].push_back(edge.callee);
      if (call->receiver) entries_by_object_[call->receiver->place.base].push_back(edge.callee);
      for (VariableId object : objects_of_spawn(index_.element_of(event)))
        entries_by_object_[object].push_back(edge.callee);
    }
  }
}

/// What may hold the thread that `element` starts: the places it orders, binds or writes, and those that a
/// later element of its block fills from a local that it defines (`thread_ = std::thread(...)`).
std::vector<VariableId> OrderSummaries::objects_of_spawn(std::uint32_t element) const {
  std::vector<VariableId> objects;
  const auto collect = [&](std::uint32_t from) {
    const Range events = index_.events_of_element(from);
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      const auto& what = index_.event(event).what;
      if (const auto* op = std::get_if<OrderOp>(&what)) objects.push_back(op->object.base);
      if (const auto* flow = std::get_if<Binding>(&what)) objects.push_back(flow->target.base);
      if (const auto* store = std::get_if<Access>(&what); store && store->mode == AccessMode::Write)
        objects.push_back(store->place.base);
    }
  };
  collect(element);
  const std::vector<std::uint32_t>& defined = index_.element(element).defines;
  const ElementRef& at = index_.where(element);
  const Range elements = index_.elements_of(at.function);
  for (std::uint32_t later = element + 1; later < elements.end && index_.where(later).block == at.block;
       ++later) {
    const std::vector<std::uint32_t>& used = index_.element(later).uses;
    const bool takes = std::any_of(used.begin(), used.end(), [&](std::uint32_t local) {
      return std::find(defined.begin(), defined.end(), local) != defined.end();
    });
    if (takes) collect(later);
  }
  return objects;
}

std::vector<std::uint32_t> OrderSummaries::entries_of(const Place& object, std::uint32_t function) const {
  if (!collected_) collect_entries();
  if (const auto known = entries_by_object_.find(object.base);
      object.base && known != entries_by_object_.end())
    return known->second;
  if (const auto started = entries_by_function_.find(function); started != entries_by_function_.end())
    return started->second;
  return calls_.thread_entries();
}

}  // namespace simrt::impact
