#include "pipeline/unemitted_functions.h"

#include <algorithm>

namespace simrt::pipeline {

UnemittedFunctions::UnemittedFunctions(const Program& program, const history::BlockNumbering& numbering) {
  for (const FunctionFacts& function : program.functions)
    for (const Block& block : function.blocks) {
      const auto number = numbering.number({function.id, block.ordinal});
      if (!number) continue;
      for (const Element& element : block.elements)
        for (const Event& event : element.events) {
          const Call* call = std::get_if<Call>(&event.what);
          if (!call || call->kind != CallKind::Direct || !call->callee) continue;
          if (const auto range = numbering.range(call->callee)) direct_calls_.emplace_back(*number, *range);
        }
    }
  std::sort(direct_calls_.begin(), direct_calls_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.base) < std::pair(b.first, b.second.base);
  });
  direct_calls_.erase(std::unique(direct_calls_.begin(), direct_calls_.end()), direct_calls_.end());
}

UnemittedFunctions::Calls UnemittedFunctions::calls_beyond(
    const std::unordered_set<FunctionId>& emitted) const {
  Calls calls;
  for (const auto& call : direct_calls_)
    if (!emitted.contains(call.second.function)) calls.push_back(call);
  return calls;
}

void UnemittedFunctions::spread(const Calls& calls, BlockSet& covered) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [site, callee] : calls) {
      if (!covered.contains(site) || covered.contains(callee.base)) continue;
      covered.addRange(callee.base, std::uint64_t{callee.base} + callee.span);
      grown = true;
    }
  }
}

}  // namespace simrt::pipeline
