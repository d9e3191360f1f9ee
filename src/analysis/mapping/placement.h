// Source positions to CFG blocks, within one function. Internal to mapping.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "model/facts.h"

namespace simrt::analysis {

/// The blocks that the positions of one piece of code stand for.
struct Placement {
  std::vector<std::uint32_t> blocks;  ///< ordinals, ascending, unique
  bool certain = false;               ///< each of them by a position that no other block has
};

/// All positions of a function's blocks, searchable.
class BlockTable {
 public:
  /// `gcc`: as gcc places the code.
  explicit BlockTable(const FunctionPoints& points, bool gcc = false);

  bool contains(SourcePoint position) const;
  /// Every block with exactly this position.
  std::vector<std::uint32_t> holders(SourcePoint position) const;

  /// Votes: blocks with a position of their own win (several: the compiler merged them); else every block
  /// that has one of the positions; else, for compilers that report another token of the expression (gcc: the
  /// operator of `a && b` for b), the blocks of the nearest point before or behind it on the line, `taken`
  /// ones last. Positions without a column decide only when nothing else does, and then for every block on
  /// the line. `taken`: blocks that other guards have for certain; one block seldom has two guards.
  Placement place(const std::vector<SourcePoint>& positions, const std::set<std::uint32_t>& taken = {}) const;

 private:
  using Entry = std::pair<SourcePoint, std::uint32_t>;
  using Range = std::pair<std::vector<Entry>::const_iterator, std::vector<Entry>::const_iterator>;
  Range at(SourcePoint position) const;
  std::set<std::uint32_t> near(SourcePoint position, const std::set<std::uint32_t>& taken) const;
  Range on_line(std::uint32_t line) const;

  std::vector<Entry> entries_;  // ascending
};

}  // namespace simrt::analysis
