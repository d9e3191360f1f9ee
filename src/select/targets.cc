#include "select/targets.h"

#include <algorithm>
#include <unordered_map>

namespace simrt::select {

Targets::Targets(const SelectInput& input) {
  resolve_accesses(input);
  collect_goals(input.impact);
}

void Targets::resolve_accesses(const SelectInput& input) {
  std::unordered_map<BlockId, BlockResolution> known;
  std::vector<BlockResolution> resolutions;
  for (const SharedAccess& access : input.impact.accesses) {
    if (access.block == BlockId{}) {
      resolutions.push_back(BlockResolution::unknown());
      continue;
    }
    auto [found, fresh] = known.try_emplace(access.block);
    if (fresh) found->second = input.block(access.block);
    resolutions.push_back(found->second);
  }
  for (const BlockResolution& resolution : resolutions)
    if (resolution.kind == BlockResolution::Kind::Known) numbers_.push_back(resolution.number);
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  blocks_.addMany(numbers_.size(), numbers_.data());
  block_slot_.resize(numbers_.empty() ? 0 : std::size_t{numbers_.back()} + 1);
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    block_slot_[numbers_[i]] = kFirstBlockSlot + static_cast<Slot>(i);

  impacted_.resize(slots());
  others_.resize(slots());
  for (std::size_t i = 0; i < resolutions.size(); ++i) {
    Slot slot = kUnknownSlot;
    if (resolutions[i].kind == BlockResolution::Kind::Known) slot = block_slot_[resolutions[i].number];
    if (resolutions[i].kind == BlockResolution::Kind::StaticInit) slot = kStaticInitSlot;
    access_slot_.push_back(slot);
    ++(input.impact.accesses[i].impacted ? impacted_ : others_)[slot];
  }
}

void Targets::collect_goals(const Impact& impact) {
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  goals_of_.resize(slots());
  for (std::uint32_t i = 0; i < impact.pairs.size(); ++i) {
    const Slot a = access_slot_[impact.pairs[i].first], b = access_slot_[impact.pairs[i].second];
    const Slot first = std::max(a, b), second = std::min(a, b);
    auto [found, fresh] =
        index.try_emplace((std::uint64_t{first} << 32) | second, static_cast<std::uint32_t>(goals_.size()));
    if (fresh) {
      goals_of_[first].push_back(found->second);
      goals_.push_back({first, second, {}});
    }
    goals_[found->second].pairs.push_back(i);
  }
}

}  // namespace simrt::select
