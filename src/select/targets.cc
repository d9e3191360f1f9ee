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
  const auto resolve = [&](BlockId block) {
    if (block == BlockId{}) return BlockResolution::unknown();
    auto [found, fresh] = known.try_emplace(block);
    if (fresh) found->second = input.block(block);
    return found->second;
  };
  std::vector<BlockResolution> blocks, behind;
  for (const SharedAccess& access : input.impact.accesses) {
    blocks.push_back(access.stands_for != 0 ? BlockResolution::unknown() : resolve(access.block));
    behind.push_back(access.block == BlockId{} ? resolve(access.reached_from) : BlockResolution::unknown());
  }
  number_slots(blocks, behind);

  impacted_.resize(slots());
  others_.resize(slots());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Slot slot = input.impact.accesses[i].stands_for != 0 ? kAnywhereSlot : kUnknownSlot;
    if (blocks[i].kind == BlockResolution::Kind::Known) slot = block_slot_[blocks[i].number];
    if (blocks[i].kind == BlockResolution::Kind::StaticInit) slot = kStaticInitSlot;
    if (behind[i].kind == BlockResolution::Kind::Known) slot = thread_slot_[block_slot_[behind[i].number]];
    access_slot_.push_back(slot);
    ++(input.impact.accesses[i].impacted ? impacted_ : others_)[slot];
  }
}

void Targets::number_slots(const std::vector<BlockResolution>& blocks,
                           const std::vector<BlockResolution>& behind) {
  const auto sort_unique = [](std::vector<BlockNumber>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  };
  for (const BlockResolution& resolution : behind)
    if (resolution.kind == BlockResolution::Kind::Known) started_behind_.push_back(resolution.number);
  sort_unique(started_behind_);
  numbers_ = started_behind_;
  for (const BlockResolution& resolution : blocks)
    if (resolution.kind == BlockResolution::Kind::Known) numbers_.push_back(resolution.number);
  sort_unique(numbers_);
  blocks_.addMany(numbers_.size(), numbers_.data());

  block_slot_.resize(numbers_.empty() ? 0 : std::size_t{numbers_.back()} + 1);
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    block_slot_[numbers_[i]] = kFirstBlockSlot + static_cast<Slot>(i);
  thread_slot_.resize(kFirstBlockSlot + numbers_.size(), kUnknownSlot);
  for (std::size_t i = 0; i < started_behind_.size(); ++i)
    thread_slot_[block_slot_[started_behind_[i]]] = static_cast<Slot>(kFirstBlockSlot + numbers_.size() + i);
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
