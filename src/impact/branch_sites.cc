#include "impact/branch_sites.h"

#include <algorithm>
#include <set>

namespace simrt::impact {
namespace {

/// The block whose branch asks whether the static is initialised already: it leads past the initialiser,
/// which it decides about. kNone when the CFG has no such branch.
std::uint32_t guard_of(const ControlFlow& flow, std::uint32_t initialiser) {
  for (std::uint32_t behind : flow.successors(initialiser))
    for (std::uint32_t guard : flow.predecessors(behind)) {
      if (guard == initialiser || !flow.branches(guard)) continue;
      const auto decided = flow.controlled_by(guard);
      if (std::binary_search(decided.begin(), decided.end(), initialiser)) return guard;
    }
  return kNone;
}

}  // namespace

void BranchSites::add(std::uint32_t element, std::uint32_t block) {
  auto& blocks = blocks_[element];
  if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) blocks.push_back(block);
}

void BranchSites::add_static_initialisers() {
  const ProgramIndex& after = context_.after;
  for (std::uint32_t event = 0; event < after.event_count(); ++event) {
    const auto* op = std::get_if<OrderOp>(&after.event(event).what);
    if (!op || op->kind != OrderKind::StaticInit) continue;
    const ElementRef home = after.where(after.element_of(event));
    const ControlFlow& flow = context_.flow_after(home.function);
    const std::uint32_t guard = guard_of(flow, home.block);
    if (guard == kNone) continue;
    for (std::uint32_t block : flow.controlled_by(guard)) {
      const Range elements = after.elements_of_block(home.function, block);
      for (std::uint32_t element = elements.begin; element < elements.end; ++element) add(element, guard);
    }
  }
}

std::vector<BlockId> BranchSites::of(std::uint32_t element) const {
  const ProgramIndex& after = context_.after;
  const std::uint32_t function = after.where(element).function;
  std::set<BlockId> sites;
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> work{element};
  while (!work.empty()) {
    const auto decided = blocks_.find(work.back());
    work.pop_back();
    if (decided == blocks_.end()) continue;
    for (std::uint32_t block : decided->second) {
      if (!seen.insert(block).second) continue;
      if (const auto site = context_.matching.old_block(function, block)) sites.insert(*site);
      const Range elements = after.elements_of_block(function, block);
      if (elements.size() != 0) work.push_back(elements.end - 1);
    }
  }
  return {sites.begin(), sites.end()};
}

std::vector<std::uint32_t> BranchSites::elements() const {
  std::vector<std::uint32_t> result;
  for (const auto& [element, blocks] : blocks_) result.push_back(element);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace simrt::impact
