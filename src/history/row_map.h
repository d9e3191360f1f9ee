// Row numbers of the merged database -> row numbers of the target. Internal to the layer.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "history/failure.h"

namespace simrt::history {

class RowMap {
 public:
  explicit RowMap(std::string what) : what_(std::move(what)) {}
  void add(std::int64_t from, std::int64_t to) { rows_[from] = to; }
  /// Throws Failure when the source refers to a row it does not have.
  std::int64_t at(std::int64_t from) const {
    const auto found = rows_.find(from);
    if (found == rows_.end())
      throw Failure{{ErrorCode::History, fmt::format("the history to merge is damaged: {} is missing", what_),
                     "merge an undamaged copy of it"}};
    return found->second;
  }

 private:
  std::string what_;
  std::unordered_map<std::int64_t, std::int64_t> rows_;
};

}  // namespace simrt::history
