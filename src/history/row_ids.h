// Keys of rows in one history database. Unlike the model's ids they mean nothing in another database.
#pragma once

#include <compare>
#include <cstdint>

namespace simrt::history {

template <class Tag>
struct RowId {
  std::int64_t value = 0;  ///< 0 means "none"
  explicit operator bool() const { return value != 0; }
  auto operator<=>(const RowId&) const = default;
};

using RevisionId = RowId<struct RevisionTag>;
using UnitId = RowId<struct UnitTag>;
using RunId = RowId<struct RunTag>;
using SelectionId = RowId<struct SelectionTag>;
using CheckRunId = RowId<struct CheckRunTag>;

}  // namespace simrt::history
