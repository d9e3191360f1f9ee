#include "impact/block_mapping.h"

#include <utility>

namespace simrt::impact {
namespace {

const std::set<MappedBlock> kNowhere;

MappedBlock on_other_thread(const MappedBlock& site) {
  return {site.function, {}, site.reached_from.function ? site.reached_from : site.block};
}

}  // namespace

BlockMapping::BlockMapping(const ChangeContext& context, const std::vector<std::uint32_t>& changed_calls)
    : context_(context) {
  for (std::uint32_t event : changed_calls) spread(event);
}

std::vector<MappedBlock> BlockMapping::of(std::uint32_t event) const {
  const ElementRef& at = context_.after.where(context_.after.element_of(event));
  if (const auto block = context_.matching.old_block(at.function, at.block))
    return {{block->function, *block, {}}};
  const auto& callers = callers_of_new(at.function);
  return {callers.begin(), callers.end()};
}

const std::set<MappedBlock>& BlockMapping::newly_reached_from(std::uint32_t function) const {
  const auto known = newly_reached_.find(function);
  return known == newly_reached_.end() ? kNowhere : known->second;
}

/// Breadth-first towards the callers, through new functions only; every existing caller met is the nearest on
/// its path.
const std::set<MappedBlock>& BlockMapping::callers_of_new(std::uint32_t function) const {
  auto [known, fresh] = callers_.try_emplace(function);
  std::set<MappedBlock>& found = known->second;
  if (!fresh) return found;
  std::vector<std::pair<std::uint32_t, bool>> work{
      {function, false}};  // node, and whether a thread start lies between
  std::set<std::pair<std::uint32_t, bool>> seen{{function, false}};
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto [node, threaded] = work[i];
    for (const CallEdge& edge : context_.calls_after.in(node)) {
      const bool on_thread = threaded || context_.calls_after.starts_thread(edge);
      const bool is_function = context_.calls_after.is_function(edge.caller);
      if (!is_function || context_.matching.status(edge.caller) == FunctionStatus::Added) {
        if (seen.emplace(edge.caller, on_thread).second) work.emplace_back(edge.caller, on_thread);
        continue;
      }
      const FunctionFacts& old = context_.before.function(context_.matching.old_function(edge.caller));
      MappedBlock site{old.id, {old.id, old.entry}, {}};
      if (edge.event != kNone)
        site.block = *context_.matching.old_block(
            edge.caller, context_.after.where(context_.after.element_of(edge.event)).block);
      found.insert(on_thread ? on_other_thread(site) : site);
    }
  }
  if (found.empty()) found.insert(MappedBlock{});
  return found;
}

std::set<MappedBlock> BlockMapping::sites(std::uint32_t event) const {
  const auto blocks = of(event);
  return {blocks.begin(), blocks.end()};
}

/// Everything the changed call reaches in existing functions may now run from its site.
void BlockMapping::spread(std::uint32_t call_event) {
  const std::uint32_t caller = context_.after.function_of_event(call_event);
  const std::set<MappedBlock> here = sites(call_event);
  std::set<MappedBlock> elsewhere;
  for (const MappedBlock& site : here) elsewhere.insert(on_other_thread(site));
  std::vector<std::pair<std::uint32_t, bool>> work;
  std::vector<std::uint8_t> seen(context_.calls_after.node_count(), 0);
  const auto reach = [&](const CallEdge& edge, bool threaded) {
    const bool on_thread = threaded || context_.calls_after.starts_thread(edge);
    const std::uint8_t bit = on_thread ? 2 : 1;
    if (seen[edge.callee] & bit) return;
    seen[edge.callee] |= bit;
    work.emplace_back(edge.callee, on_thread);
  };
  for (const CallEdge& edge : context_.calls_after.edges_of(call_event, caller)) reach(edge, false);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto [node, threaded] = work[i];
    if (context_.calls_after.is_function(node) && context_.matching.status(node) != FunctionStatus::Added) {
      const auto& blocks = threaded ? elsewhere : here;
      newly_reached_[node].insert(blocks.begin(), blocks.end());
    }
    for (const CallEdge& edge : context_.calls_after.out(node)) reach(edge, threaded);
  }
}

}  // namespace simrt::impact
