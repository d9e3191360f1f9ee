// Which potential findings of a test are driven into a witness first, and with how much of its time: real
// tests hint at hundreds of races of which a few can happen.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/check/describe.h"

namespace simrt::pipeline {

/// A race of two accesses that the diff put at risk together.
bool is_impacted_race(const Candidate& candidate);

/// What was seen to happen first, then what the diff put at risk (both sides of a pair, one side, none), then
/// guesses; last what was aimed at together with others and not met. Stable.
void sort_by_promise(std::vector<Candidate>& candidates);

/// Into how many parts what is left of the budget is divided for candidate `index` of the sorted ones: its
/// equals get most of it in equal parts, whatever else waits. `all_known`: no more candidates will come.
double parts_for(const std::vector<Candidate>& candidates, std::size_t index, bool all_known);

}  // namespace simrt::pipeline
