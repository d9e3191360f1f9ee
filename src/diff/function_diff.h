// Two versions of one function -> FunctionDiff.
#pragma once

#include "model/change.h"
#include "model/facts.h"

namespace simrt::diff {

/// Signature, body and flags are equal, and neither version was parsed with errors.
bool unchanged(const FunctionFacts& before, const FunctionFacts& after);

/// Walks both versions (see diff_programs). Status is Changed whatever is found.
FunctionDiff diff_function(const FunctionFacts& before, const FunctionFacts& after, bool resync);

}  // namespace simrt::diff
