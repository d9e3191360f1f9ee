#include "history/block_numbers.h"

#include <algorithm>
#include <limits>

#include "history/block_ranges.h"
#include "history/failure.h"
#include "history/query.h"

namespace simrt::history {

BlockNumbering::BlockNumbering(std::vector<BlockRange> ranges) : ranges_(std::move(ranges)) {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const BlockRange& a, const BlockRange& b) { return a.base < b.base; });
  by_function_.reserve(ranges_.size());
  for (std::size_t i = 0; i < ranges_.size(); ++i) by_function_[ranges_[i].function] = i;
}

std::optional<BlockNumber> BlockNumbering::number(BlockId block) const {
  const auto found = by_function_.find(block.function);
  if (found == by_function_.end() || block.ordinal >= ranges_[found->second].span) return std::nullopt;
  return ranges_[found->second].base + block.ordinal;
}

std::optional<BlockId> BlockNumbering::block(BlockNumber number) const {
  auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), number,
                       [](BlockNumber value, const BlockRange& range) { return value < range.base; });
  if (after == ranges_.begin()) return std::nullopt;
  const BlockRange& range = *--after;
  if (number - range.base >= range.span) return std::nullopt;
  return BlockId{range.function, number - range.base};
}

std::optional<BlockRange> BlockNumbering::range(FunctionId function) const {
  const auto found = by_function_.find(function);
  return found == by_function_.end() ? std::nullopt : std::optional(ranges_[found->second]);
}

std::uint32_t block_span(const FunctionFacts& function) {
  std::uint32_t span = 0;
  for (const Block& block : function.blocks) span = std::max(span, block.ordinal + 1);
  return span;
}

RangeTable::RangeTable(Connection& connection) : connection_(connection) {
  if (Query count(connection, "SELECT count(*) FROM block_range"); count.next()) bases_.reserve(count.u64(0));
  Query row(connection, "SELECT base, function, body, span FROM block_range ORDER BY base");
  while (row.next()) {
    bases_.try_emplace({row.u64(1), row.u64(2), row.u32(3)}, row.u32(0));
    next_ = row.u64(0) + row.u64(3);
  }
}

std::optional<BlockNumber> RangeTable::find(FunctionId function, std::uint64_t body,
                                            std::uint32_t span) const {
  const auto known = bases_.find({function.value, body, span});
  return known == bases_.end() ? std::nullopt : std::optional(known->second);
}

BlockNumber RangeTable::find_or_assign(FunctionId function, std::uint64_t body, std::uint32_t span) {
  const auto [known, fresh] =
      bases_.try_emplace({function.value, body, span}, static_cast<BlockNumber>(next_));
  if (!fresh) return known->second;
  if (next_ + span > std::numeric_limits<BlockNumber>::max())
    throw Failure{
        {ErrorCode::Storage, "the history has run out of block numbers", "start a new history file"}};
  Query(connection_, "INSERT INTO block_range(base, function, body, span) VALUES (?, ?, ?, ?)", next_,
        function.value, body, span)
      .run();
  next_ += span;
  return known->second;
}

std::optional<BlockNumber> find_range(Connection& connection, FunctionId function, std::uint64_t body,
                                      std::uint32_t span) {
  Query row(connection, "SELECT base FROM block_range WHERE function = ? AND body = ? AND span = ?",
            function.value, body, span);
  return row.next() ? std::optional(row.u32(0)) : std::nullopt;
}

Result<BlockNumbering> load_block_numbers(Database& database, const Program& program) {
  return guarded(database, [&](Connection& connection) -> Result<BlockNumbering> {
    const RangeTable table(connection);
    std::vector<BlockRange> ranges;
    for (const FunctionFacts& function : program.functions) {
      const std::uint32_t span = block_span(function);
      if (const auto base = table.find(function.id, function.body, span); base && span > 0)
        ranges.push_back({function.id, *base, span});
    }
    return BlockNumbering(std::move(ranges));
  });
}

Result<BlockNumbering> assign_block_numbers(Database& database, const Program& program) {
  return written(database, [&](Connection& connection) -> Result<BlockNumbering> {
    RangeTable table(connection);
    std::vector<BlockRange> ranges;
    for (const FunctionFacts& function : program.functions) {
      const std::uint32_t span = block_span(function);
      if (span > 0)
        ranges.push_back({function.id, table.find_or_assign(function.id, function.body, span), span});
    }
    return BlockNumbering(std::move(ranges));
  });
}

}  // namespace simrt::history
