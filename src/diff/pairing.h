// Which function of the new version is which of the old one.
#pragma once

#include <vector>

#include "diff/diff.h"

namespace simrt::diff {

/// Null on one side: added or removed.
struct FunctionPair {
  const FunctionFacts* before = nullptr;
  const FunctionFacts* after = nullptr;
};

/// In this order, each function once: equal id; equal identity after file renames; equal name and file after
/// renames; instantiations of paired patterns; moved or renamed with equal signature and body; then lambdas
/// and other nested functions without name, within their paired parents, by longest common subsequence of
/// their bodies and what is left between by order. Sorted by (new id, old id); identical pairs are included.
std::vector<FunctionPair> pair_functions(const Program& before, const Program& after,
                                         const DiffOptions& options);

}  // namespace simrt::diff
