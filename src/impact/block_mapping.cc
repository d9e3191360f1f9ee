#include "impact/block_mapping.h"

#include <map>
#include <utility>

namespace simrt::impact {

BlockMapping::BlockMapping(const ChangeContext& context, const std::vector<std::uint32_t>& changed_calls,
                           const BranchSites& branches, const BranchSites& statics)
    : context_(context),
      branches_(branches),
      statics_(statics),
      callers_(find_callers()),
      newly_reached_(find_newly_reached(changed_calls)),
      once_(find_once()) {}

std::optional<BlockId> BlockMapping::own_block(std::uint32_t event) const {
  const ElementRef& at = context_.after.where(context_.after.element_of(event));
  return context_.matching.old_block(at.function, at.block);
}

/// Code that p does not have, or a point that calls through pointers go through.
bool BlockMapping::is_new(std::uint32_t node) const {
  return !context_.calls_after.is_function(node) || context_.matching.status(node) == FunctionStatus::Added;
}

Places BlockMapping::callers_of_new(std::uint32_t function) const {
  Places places = callers_.places(function);
  if (places.empty()) places.unknown = true;
  return places;
}

Places BlockMapping::newly_reached_from(std::uint32_t function) const {
  return newly_reached_.places(function);
}

Places BlockMapping::once_from(std::uint32_t function) const { return once_.places(function); }

Places BlockMapping::newly_reached_at(std::uint32_t event) const {
  return {branches_.of(context_.after.element_of(event)), {}, false};
}

Places BlockMapping::once_at(std::uint32_t event) const {
  return {statics_.of(context_.after.element_of(event)), {}, false};
}

/// From every call of new code in existing code, on through new code only: every existing caller met is the
/// nearest on its path.
SiteFlow BlockMapping::find_callers() const {
  const CallGraph& calls = context_.calls_after;
  std::vector<std::pair<const CallEdge*, BlockId>> entries;
  std::vector<BlockId> sites;
  for (std::uint32_t caller = 0; caller < context_.after.function_count(); ++caller) {
    if (is_new(caller)) continue;
    for (const CallEdge& edge : calls.out(caller)) {
      if (!is_new(edge.callee)) continue;
      const FunctionFacts& old = context_.before.function(context_.matching.old_function(caller));
      const BlockId site = edge.event == kNone ? BlockId{old.id, old.entry} : *own_block(edge.event);
      entries.emplace_back(&edge, site);
      sites.push_back(site);
    }
  }
  SiteFlow flow(calls, std::move(sites), [this](std::uint32_t node) { return is_new(node); });
  for (const auto& [edge, site] : entries) flow.start({edge, 1}, {{site}, {}, false});
  flow.run();
  return flow;
}

/// Everything that a changed call reaches may now run from its site; a function newly handed on, from the
/// calls through pointers that may mean it.
SiteFlow BlockMapping::find_newly_reached(const std::vector<std::uint32_t>& changed_calls) const {
  const CallGraph& calls = context_.calls_after;
  std::vector<Start> starts;
  for (std::uint32_t event : changed_calls) {
    for (const CallEdge& edge : calls.edges_of(event, context_.after.function_of_event(event))) {
      starts.push_back({event, edge, std::nullopt});
      if (edge.kind == CallKind::Callback && !calls.starts_thread(edge)) add_pointer_calls(edge, starts);
    }
  }
  add_calls_at(branches_, starts);
  return flow_from(starts);
}

void BlockMapping::add_calls_at(const BranchSites& branches, std::vector<Start>& starts) const {
  for (std::uint32_t element : branches.elements()) {
    const Range events = context_.after.events_of_element(element);
    std::vector<BlockId> sites;
    for (std::uint32_t event = events.begin; event < events.end; ++event) {
      const auto edges = context_.calls_after.edges_of(event, context_.after.where(element).function);
      if (edges.empty()) continue;
      if (sites.empty()) sites = branches.of(element);
      for (const CallEdge& edge : edges)
        for (const BlockId& site : sites) starts.push_back({event, edge, site});
    }
  }
}

void BlockMapping::add_pointer_calls(const CallEdge& handed_on, std::vector<Start>& starts) const {
  const CallGraph& calls = context_.calls_after;
  for (const CallEdge& meant : calls.in(handed_on.callee)) {
    if (calls.is_function(meant.caller)) continue;
    for (const CallEdge& call : calls.in(meant.caller)) starts.push_back({call.event, meant, std::nullopt});
  }
}

SiteFlow BlockMapping::find_once() const {
  const ProgramIndex& after = context_.after;
  std::vector<Start> starts;
  for (std::uint32_t event = 0; event < after.event_count(); ++event) {
    const auto* op = std::get_if<OrderOp>(&after.event(event).what);
    if (!op || op->kind != OrderKind::OnceCall) continue;
    const Range beside = after.events_of_element(after.element_of(event));
    for (std::uint32_t call = beside.begin; call < beside.end; ++call)
      for (const CallEdge& edge : context_.calls_after.edges_of(call, after.function_of_event(call)))
        starts.push_back({call, edge, std::nullopt});
  }
  add_calls_at(statics_, starts);
  return flow_from(starts);
}

/// Edges with the events whose sites lead there.
SiteFlow BlockMapping::flow_from(const std::vector<Start>& starts) const {
  std::vector<BlockId> sites;
  std::map<BlockId, std::vector<CallEdge>> from_block;
  std::map<std::uint32_t, std::vector<CallEdge>> from_new;  // by new function: its sites are many
  for (const auto& [event, edge, site] : starts) {
    const auto block = site ? site : own_block(event);
    (block ? from_block[*block] : from_new[context_.after.function_of_event(event)]).push_back(edge);
  }
  for (const auto& [block, edges] : from_block) sites.push_back(block);
  for (const auto& [function, edges] : from_new) {
    const Places places = callers_of_new(function);
    sites.insert(sites.end(), places.here.begin(), places.here.end());
    sites.insert(sites.end(), places.started.begin(), places.started.end());
    if (places.unknown) sites.emplace_back();
  }
  SiteFlow flow(context_.calls_after, std::move(sites), [](std::uint32_t) { return true; });
  for (const auto& [block, edges] : from_block) flow.start(edges, {{block}, {}, false});
  for (const auto& [function, edges] : from_new) flow.start(edges, callers_of_new(function));
  flow.run();
  return flow;
}

}  // namespace simrt::impact
