// How many blocks of a set fall into each block range. Internal to the layer.
#pragma once

#include <cstdint>
#include <vector>

#include "model/coverage.h"

namespace simrt::history {

struct RangeBounds {
  BlockNumber base = 0;
  std::uint32_t span = 0;
};

struct RangeCount {
  BlockNumber base = 0;
  std::uint32_t blocks = 0;
};

/// `ranges` ascending and disjoint. Ranges without a block are left out; so are numbers outside every range.
std::vector<RangeCount> count_by_range(const BlockSet& blocks, const std::vector<RangeBounds>& ranges);

}  // namespace simrt::history
