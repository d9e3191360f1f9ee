// Packed lists of row numbers, as the unit table keeps them. Internal to the layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simrt::history {

/// A function or variable version in a unit, and the line it begins at there.
struct Link {
  std::int64_t version = 0;
  std::uint32_t line = 0;
};

std::string pack_links(const std::vector<Link>& links);
/// Throws Failure when damaged.
std::vector<Link> unpack_links(std::string_view blob);

std::string pack_rows(const std::vector<std::int64_t>& rows);
std::vector<std::int64_t> unpack_rows(std::string_view blob);

std::string pack_texts(const std::vector<std::string>& texts);
std::vector<std::string> unpack_texts(std::string_view blob);

}  // namespace simrt::history
