// One compiled copy of a function (its own body, or one inlined into a caller) and what its guards cover.
// Internal to mapping.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analysis/mapping/dominators.h"
#include "analysis/mapping/guard_ranges.h"
#include "analysis/mapping/placement.h"

namespace simrt::analysis {

class CompiledCopy {
 public:
  /// Block ordinal -> guard -> whether that is certain.
  using Marks = std::map<std::uint32_t, std::map<std::uint32_t, bool>>;

  /// `entry` of FunctionFacts, and what follows it unconditionally.
  explicit CompiledCopy(const FunctionFacts& facts);

  /// Votes for every piece. `positions[i]` are those of `pieces[i]` that lie in the function's file;
  /// `certain` = false when it is not even certain that this is the function.
  void place(const BlockTable& table, const std::vector<Guard>& guards,
             const std::vector<const CodePiece*>& pieces,
             const std::vector<std::vector<SourcePoint>>& positions, bool certain);

  /// Blocks that other copies of the function have a guard for and this one does not take those of their
  /// nearest dominator here, else of the entry, else of the whole copy: code that the compiler merged or
  /// moved in one copy must not look as if it had not run.
  void fill_gaps(const std::set<std::uint32_t>& guarded_elsewhere, const Dominators& dominators);

  void mark(std::uint32_t ordinal, std::uint32_t guard, bool certain);
  void mark_entry(std::uint32_t guard);
  const Marks& marks() const { return marks_; }

 private:
  void add_shared(const BlockTable& table, const std::vector<const CodePiece*>& pieces,
                  const std::vector<std::vector<SourcePoint>>& positions);

  std::vector<std::uint32_t> entry_;  // the entry block first
  Marks marks_;
};

}  // namespace simrt::analysis
