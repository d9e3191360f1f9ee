// Shape of a CFG: its options, edges and their labels.
#pragma once

#include <clang/Analysis/CFG.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/extract/canonical.h"
#include "model/facts.h"

namespace simrt::analysis {

/// Null where Clang cannot build one (dependent range-for in a pattern, broken code).
std::unique_ptr<clang::CFG> build_graph(Unit& unit, const FunctionScope& scope);

/// Edges in Clang's order with their kinds and labels.
std::vector<Edge> edges_of(const clang::CFGBlock& block, Canonical& canonical);

/// Hash of what kind of branch ends the block; 0 for fall-through.
std::uint64_t terminator_hash(const clang::CFGBlock& block);

/// Hash of the value that an `if constexpr` at the end of the block has; 0 for other branches. No element has
/// it (the constant is in no expression that runs), yet it decides.
std::uint64_t constant_branch(const clang::ASTContext& context, const clang::CFGBlock& block);

/// Elements that stand for no code (markers, type declarations, empty statements).
bool is_empty(const clang::CFGElement& element);

}  // namespace simrt::analysis
