// The schema as an ordered list of forward-only migrations, embedded from db_schema/ at build time.
#pragma once

#include <span>
#include <string_view>

namespace simrt::history {

struct Migration {
  int version = 0;        ///< 1, 2, 3, ... without a gap (checked by the build)
  std::string_view name;  ///< file name without extension
  std::string_view sql;   ///< NUL-terminated
};

/// Every migration this binary knows, ascending. The last one's version is the newest schema it can read.
std::span<const Migration> migrations();

}  // namespace simrt::history
