// The table of block numbers. Internal to the layer. Throws Failure and SQLite::Exception.
#pragma once

#include <cstdint>
#include <optional>

#include "history/query.h"
#include "model/coverage.h"
#include "model/facts.h"

namespace simrt::history {

/// Numbers a body needs: its largest ordinal + 1 (Clang's ordinals have few gaps, and gaps cost nothing).
std::uint32_t block_span(const FunctionFacts& function);

class RangeTable {
 public:
  explicit RangeTable(Connection& connection);
  std::optional<BlockNumber> find(FunctionId function, std::uint64_t body, std::uint32_t span);
  /// Inside a transaction only.
  BlockNumber find_or_assign(FunctionId function, std::uint64_t body, std::uint32_t span);

 private:
  Connection& connection_;
  Query find_;
  std::int64_t next_ = -1;  ///< first free number; -1: not looked up yet
};

}  // namespace simrt::history
