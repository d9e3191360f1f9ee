// Dense numbers for CFG blocks, so that coverage can be bitmaps. A number belongs to (function, body,
// ordinal) for ever: a function whose body did not change keeps its numbers at every later revision, a
// changed one gets new ones.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "history/database.h"
#include "model/coverage.h"
#include "model/ids.h"
#include "model/program.h"

namespace simrt::history {

/// Numbers [base, base + span) of the blocks with ordinal 0 .. span - 1 of one body.
struct BlockRange {
  FunctionId function;
  BlockNumber base = 0;
  std::uint32_t span = 0;
  bool operator==(const BlockRange&) const = default;
};

/// The numbers of one program's blocks, in memory. Thread-safe once built.
class BlockNumbering {
 public:
  BlockNumbering() = default;
  explicit BlockNumbering(std::vector<BlockRange> ranges);

  /// nullopt: the history knows no number for this block (the body was never recorded).
  std::optional<BlockNumber> number(BlockId block) const;
  /// nullopt: the number belongs to a body that is not in this program.
  std::optional<BlockId> block(BlockNumber number) const;
  std::optional<BlockRange> range(FunctionId function) const;
  const std::vector<BlockRange>& ranges() const { return ranges_; }  ///< ascending base

 private:
  std::vector<BlockRange> ranges_;
  std::unordered_map<FunctionId, std::size_t> by_function_;
};

/// Numbers the history has for the program's bodies. Reads only.
Result<BlockNumbering> load_block_numbers(Database& database, const Program& program);

/// Like load_block_numbers(), after giving new numbers to the bodies that had none. One transaction.
/// Error: Storage when 32 bits no longer suffice.
Result<BlockNumbering> assign_block_numbers(Database& database, const Program& program);

}  // namespace simrt::history
