#include "select/affected.h"

#include <fmt/format.h>

#include <algorithm>

namespace simrt::select {

Affected::Affected(const SelectInput& input) {
  if (input.options.technique != Technique::SimRT || !input.impact.origins) return;
  for (const FunctionId function : *input.impact.origins) {
    const std::vector<BlockNumber> numbers = input.function_blocks(function);
    if (numbers.empty()) return;  // nobody saw who enters it
    blocks_.addMany(numbers.size(), numbers.data());
  }
  functions_ = input.impact.origins->size();
  known_ = true;
}

bool Affected::may_differ(const TestCoverage& coverage) const {
  return !known_ || coverage.several.intersect(blocks_) ||
         std::any_of(coverage.single.begin(), coverage.single.end(),
                     [&](const ThreadCoverage& thread) { return thread.blocks.intersect(blocks_); });
}

std::string Affected::why_not() const {
  return fmt::format("enters none of the {} function{} that the change alters", functions_,
                     functions_ == 1 ? "" : "s");
}

}  // namespace simrt::select
