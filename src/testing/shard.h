// A stable part of the tests for one of several machines: "i/n".
#pragma once

#include <cstdint>
#include <string_view>

#include "support/result.h"

namespace simrt::testing {

struct Shard {
  std::uint32_t index = 1;  ///< 1 to count
  std::uint32_t count = 1;

  /// Whether the test of this name belongs to this shard. Every name belongs to exactly one of `count`; the
  /// answer depends on nothing but name and count, so machines agree without talking and other tests that
  /// come or go move nothing.
  bool contains(std::string_view name) const;
};

/// "2/5". ErrorCode::Usage for anything else, for index 0 and for index > count.
Result<Shard> parse_shard(std::string_view text);

}  // namespace simrt::testing
