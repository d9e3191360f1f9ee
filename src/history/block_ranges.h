// The table of block numbers. Internal to the layer. Throws Failure and SQLite::Exception.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "history/query.h"
#include "model/coverage.h"
#include "model/facts.h"
#include "support/hash.h"

namespace simrt::history {

/// Numbers a body needs: its largest ordinal + 1 (Clang's ordinals have few gaps, and gaps cost nothing).
std::uint32_t block_span(const FunctionFacts& function);

/// All ranges at once, in memory: for whole programs. Ranges are few (one a body) and stay for ever.
class RangeTable {
 public:
  explicit RangeTable(Connection& connection);
  std::optional<BlockNumber> find(FunctionId function, std::uint64_t body, std::uint32_t span) const;
  /// Inside the transaction in which the table was made.
  BlockNumber find_or_assign(FunctionId function, std::uint64_t body, std::uint32_t span);

 private:
  struct Key {
    std::uint64_t function = 0, body = 0;
    std::uint32_t span = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return hash_combine(key.function, key.body + key.span); }
  };
  Connection& connection_;
  std::unordered_map<Key, BlockNumber, Hash> bases_;
  std::uint64_t next_ = 0;  ///< first free number
};

/// One range, without reading the others.
std::optional<BlockNumber> find_range(Connection& connection, FunctionId function, std::uint64_t body,
                                      std::uint32_t span);

}  // namespace simrt::history
