// The examples of a mapping report. Internal to mapping.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/mapping/mapping.h"

namespace simrt::analysis {

/// Keeps the first few.
void add_example(std::vector<std::string>& examples, std::string text);

/// "ns::f block 3 (src/f.cc:12:5)"; `points` may be null.
std::string describe_block(const FunctionFacts& function, std::uint32_t ordinal,
                           const FunctionPoints* points);

}  // namespace simrt::analysis
