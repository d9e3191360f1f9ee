#include "impact/marks.h"

#include <algorithm>

namespace simrt::impact {

Marks::Marks(const ProgramIndex& after, const CallGraph& calls)
    : index_(after),
      calls_(calls),
      of_event_(after.event_count(), kNone),
      closed_(calls.node_count(), false),
      own_closed_(calls.node_count(), false) {}

std::uint32_t Marks::add(Cause cause) {
  causes_.push_back(std::move(cause));
  return static_cast<std::uint32_t>(causes_.size() - 1);
}

void Marks::event(std::uint32_t event, std::uint32_t cause) {
  if (of_event_[event] != kNone || !std::holds_alternative<Access>(index_.event(event).what)) return;
  of_event_[event] = cause;
  any_ = true;
}

void Marks::element(std::uint32_t element, std::uint32_t cause) {
  const Range events = index_.events_of_element(element);
  for (std::uint32_t e = events.begin; e < events.end; ++e) event(e, cause);
}

void Marks::function(std::uint32_t function, std::uint32_t cause) {
  const Range events = index_.events_of(function);
  for (std::uint32_t e = events.begin; e < events.end; ++e) event(e, cause);
}

void Marks::closure(const std::vector<std::uint32_t>& functions, std::uint32_t cause, Threads threads) {
  const bool own = threads == Threads::Own;
  std::vector<std::uint32_t> work;
  const auto reach = [&](std::uint32_t node) {
    if (closed_[node] || (own && own_closed_[node])) return;
    (own ? own_closed_ : closed_)[node] = true;
    work.push_back(node);
  };
  for (std::uint32_t f : functions) reach(f);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (calls_.is_function(work[i])) function(work[i], cause);
    for (const CallEdge& edge : calls_.out(work[i]))
      if (!own || !calls_.starts_thread(edge)) reach(edge.callee);
  }
}

void Marks::callees(std::uint32_t call_event, std::uint32_t cause, Threads threads) {
  std::vector<std::uint32_t> targets;
  for (const CallEdge& edge : calls_.edges_of(call_event, index_.function_of_event(call_event)))
    if (threads == Threads::All || !calls_.starts_thread(edge)) targets.push_back(edge.callee);
  closure(targets, cause, threads);
}

void Marks::near(std::uint32_t element, std::uint32_t cause, Threads threads) {
  this->element(element, cause);
  const Range events = index_.events_of_element(element);
  for (std::uint32_t e = events.begin; e < events.end; ++e)
    for (const CallEdge& edge : calls_.edges_of(e, index_.where(element).function))
      if (calls_.is_function(edge.callee) && (threads == Threads::All || !calls_.starts_thread(edge)))
        function(edge.callee, cause);
}

void Marks::execution(std::uint32_t element, std::uint32_t cause, Threads threads) {
  this->element(element, cause);
  const Range events = index_.events_of_element(element);
  for (std::uint32_t e = events.begin; e < events.end; ++e)
    if (std::holds_alternative<Call>(index_.event(e).what)) callees(e, cause, threads);
}

}  // namespace simrt::impact
