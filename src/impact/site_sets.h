// The sets of blocks of p that accesses share (Impact::site_sets): each set is kept once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/ids.h"

namespace simrt::impact {

class SiteSets {
 public:
  SiteSets() = default;
  SiteSets(SiteSets&&) = default;

  /// `blocks`: ascending, without duplicates, not empty.
  std::uint32_t add(std::vector<BlockId> blocks) {
    const auto [known, fresh] =
        index_.try_emplace(std::move(blocks), static_cast<std::uint32_t>(by_index_.size()));
    if (fresh) by_index_.push_back(&known->first);
    return known->second;
  }
  const std::vector<BlockId>& at(std::uint32_t index) const { return *by_index_[index]; }
  std::vector<std::vector<BlockId>> all() const {
    std::vector<std::vector<BlockId>> result;
    for (const auto* blocks : by_index_) result.push_back(*blocks);
    return result;
  }

 private:
  std::map<std::vector<BlockId>, std::uint32_t> index_;
  std::vector<const std::vector<BlockId>*> by_index_;  ///< keys of index_, which never move
};

}  // namespace simrt::impact
