#include "history/range_counts.h"

#include <algorithm>

namespace simrt::history {

std::vector<RangeCount> count_by_range(const BlockSet& blocks, const std::vector<RangeBounds>& ranges) {
  std::vector<RangeCount> counts;
  auto range = ranges.begin();
  for (const BlockNumber number : blocks) {
    if (range == ranges.end() || number - range->base >= range->span) {
      range =
          std::upper_bound(range == ranges.end() ? ranges.begin() : range, ranges.end(), number,
                           [](BlockNumber value, const RangeBounds& bounds) { return value < bounds.base; });
      if (range == ranges.begin()) continue;
      --range;
      if (number - range->base >= range->span) continue;
    }
    if (counts.empty() || counts.back().base != range->base) counts.push_back({range->base, 0});
    ++counts.back().blocks;
  }
  return counts;
}

}  // namespace simrt::history
