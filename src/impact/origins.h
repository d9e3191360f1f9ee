// Where executions that the change affects begin to differ.
#pragma once

#include <optional>
#include <vector>

#include "impact/change_context.h"

namespace simrt::impact {

/// Functions of p of which every execution that the change can affect enters one: those that the change
/// alters or removes, and unchanged ones from which a call may now end up in a new override. An execution
/// that enters none runs the same code on the same data in both versions (the safety argument of regression
/// test selection: Rothermel and Harrold, A safe, efficient regression test selection technique, TOSEM 1997;
/// here by function, so that a schedule that takes another branch within one makes no difference). Ascending,
/// unique. nullopt: the change reaches beyond code (types, storage, start-up, code that is called from
/// outside the program), so nothing can be said.
std::optional<std::vector<FunctionId>> change_origins(const ChangeContext& context);

}  // namespace simrt::impact
