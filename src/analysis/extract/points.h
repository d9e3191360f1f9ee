// Source points of a block's code, for matching coverage to blocks.
#pragma once

#include <clang/Analysis/CFG.h>

#include <vector>

#include "analysis/extract/ownership.h"
#include "analysis/extract/unit.h"

namespace simrt::analysis {

/// Every begin, expression, operator and member location of the block's own sub-expressions that stands in
/// the function's file; of the branch that ends it; and the braces for entry, exit and implicit code. Sorted,
/// unique.
std::vector<SourcePoint> points_of(Unit& unit, const FunctionScope& scope, const clang::CFG& graph,
                                   const clang::CFGBlock& block, const Ownership& ownership);

}  // namespace simrt::analysis
