// How the coverage guards of an instrumented binary map to blocks, kept by the binary's build id or content
// hash, so that an unchanged binary is not mapped again. The bytes are the caller's; they may hold block
// numbers of this database and are therefore never merged into another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "history/database.h"

namespace simrt::history {

/// Stores or replaces. `now` in seconds since 1970; old mappings are pruned by it.
Status put_mapping(Database& database, const std::string& key, std::string_view mapping, std::int64_t now);
/// Null when unknown. Error: History when damaged.
Result<std::optional<std::string>> find_mapping(Database& database, const std::string& key);

}  // namespace simrt::history
