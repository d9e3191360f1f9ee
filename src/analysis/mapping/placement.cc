#include "analysis/mapping/placement.h"

#include <algorithm>
#include <set>

namespace simrt::analysis {

BlockTable::BlockTable(const FunctionPoints& points, bool gcc) {
  for (const BlockPoints& block : points.blocks) {
    const bool differs = gcc && !block.gcc_points.empty();
    for (SourcePoint point : differs ? block.gcc_points : block.points)
      entries_.emplace_back(point, block.ordinal);
  }
  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
}

BlockTable::Range BlockTable::at(SourcePoint position) const {
  return {std::lower_bound(entries_.begin(), entries_.end(), Entry{position, 0}),
          std::upper_bound(entries_.begin(), entries_.end(), Entry{position, UINT32_MAX})};
}

std::set<std::uint32_t> BlockTable::near(SourcePoint position, const std::set<std::uint32_t>& taken) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), Entry{position, UINT32_MAX});
  std::vector<Range> sides;
  if (after != entries_.begin() && std::prev(after)->first.line == position.line) {
    sides.push_back(at(std::prev(after)->first));
  }
  if (after != entries_.end() && after->first.line == position.line) sides.push_back(at(after->first));
  std::set<std::uint32_t> blocks;
  for (const bool free_only : {true, false}) {
    for (const Range& side : sides) {
      for (auto it = side.first; it != side.second; ++it) {
        if (!free_only || taken.count(it->second) == 0) blocks.insert(it->second);
      }
      if (!blocks.empty()) return blocks;
    }
  }
  return blocks;
}

BlockTable::Range BlockTable::on_line(std::uint32_t line) const {
  return {std::lower_bound(entries_.begin(), entries_.end(), Entry{{line, 0}, 0}),
          std::lower_bound(entries_.begin(), entries_.end(), Entry{{line + 1, 0}, 0})};
}

bool BlockTable::contains(SourcePoint position) const {
  const Range range = at(position);
  return range.first != range.second;
}

std::vector<std::uint32_t> BlockTable::holders(SourcePoint position) const {
  std::vector<std::uint32_t> blocks;
  const Range range = at(position);
  for (auto it = range.first; it != range.second; ++it) blocks.push_back(it->second);
  return blocks;
}

Placement BlockTable::place(const std::vector<SourcePoint>& positions,
                            const std::set<std::uint32_t>& taken) const {
  std::set<std::uint32_t> own, shared, close, line;
  auto collect = [](std::set<std::uint32_t>& into, const Range& range) {
    for (auto it = range.first; it != range.second; ++it) into.insert(it->second);
  };
  for (SourcePoint position : positions) {
    if (position.line == 0) continue;
    if (position.column == 0) {
      collect(line, on_line(position.line));
      continue;
    }
    const Range exact = at(position);
    const auto count = exact.second - exact.first;
    if (count == 0) {
      close.merge(near(position, taken));
    } else {
      collect(count == 1 ? own : shared, exact);
    }
  }
  for (const auto* votes : {&own, &shared, &close, &line}) {
    if (!votes->empty()) return {{votes->begin(), votes->end()}, votes == &own};
  }
  return {};
}

}  // namespace simrt::analysis
