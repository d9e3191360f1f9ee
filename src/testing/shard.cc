// See shard.h.
#include "testing/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "support/hash.h"

namespace simrt::testing {

bool Shard::contains(std::string_view name) const { return hash_bytes(name) % count == index - 1; }

Result<Shard> parse_shard(std::string_view text) {
  const auto number = [](std::string_view digits, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash == std::string_view::npos || !number(text.substr(0, slash), shard.index) ||
      !number(text.substr(slash + 1), shard.count) || shard.index == 0 || shard.index > shard.count) {
    return fail(ErrorCode::Usage, fmt::format("\"{}\" is not a shard", text),
                "write it as i/n with 1 <= i <= n, such as 2/5 for the second of five machines");
  }
  return shard;
}

}  // namespace simrt::testing
