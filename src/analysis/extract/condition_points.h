// Where compilers put the branches of conditions that are made of `a && b` and `a || b`.
#pragma once

#include <clang/Analysis/CFG.h>

#include <vector>

#include "analysis/extract/unit.h"

namespace simrt::analysis {

/// Clang's CFG ends the block of the last operand with the branch of the whole statement. Compiled, it stands
/// behind the join of all operands, or with the first one: its place (keyword, `?`, `:`) moves to the block
/// of the first operand, which always runs. gcc (gimplify.cc, shortcut_cond_r) moreover gives the branch of
/// each further operand the place of the operator before it, and makes `!a && !b` of `!(a || b)` at the place
/// of the `!`: `gcc_points` of those blocks. The operators stay with the operand before them, too: where the
/// result is a value, gcc has all its code there.
void place_conditions(Unit& unit, const FunctionScope& scope, const clang::CFG& graph,
                      std::vector<BlockPoints>& blocks);

}  // namespace simrt::analysis
