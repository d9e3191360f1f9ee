#include "select/targets.h"

#include <algorithm>
#include <utility>

namespace simrt::select {

Targets::Targets(const SelectInput& input) {
  resolve_accesses(input);
  collect_goals(input.impact);
}

void Targets::resolve_accesses(const SelectInput& input) {
  const Impact& impact = input.impact;
  const auto resolve = [&](BlockId block) {
    if (block == BlockId{}) return;
    if (const auto [found, fresh] = resolved_.try_emplace(block); fresh) found->second = input.block(block);
  };
  for (const SharedAccess& access : impact.accesses) resolve(access.block);
  for (const auto& sites : impact.site_sets)
    for (const BlockId& site : sites) resolve(site);
  number_slots();
  for (const SharedAccess& access : impact.accesses) access_slot_.push_back(slot_of(access, impact));

  groups_with_.resize(slots());
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (Slot member : groups_[i]->members)
      groups_with_[member].push_back(static_cast<Slot>(kFirstBlockSlot + numbers_.size() + i));
  impacted_.resize(slots());
  others_.resize(slots());
  for (std::size_t i = 0; i < access_slot_.size(); ++i)
    if (impact.accesses[i].stands_for == 0)
      ++(impact.accesses[i].impacted ? impacted_ : others_)[access_slot_[i]];
}

void Targets::number_slots() {
  for (const auto& [block, resolution] : resolved_)
    if (resolution.kind == BlockResolution::Kind::Known) numbers_.push_back(resolution.number);
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  blocks_.addMany(numbers_.size(), numbers_.data());
  block_slot_.resize(numbers_.empty() ? 0 : std::size_t{numbers_.back()} + 1);
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    block_slot_[numbers_[i]] = kFirstBlockSlot + static_cast<Slot>(i);
}

Slot Targets::slot_of(BlockId block) const {
  const auto found = resolved_.find(block);
  if (found == resolved_.end()) return kUnknownSlot;
  switch (found->second.kind) {
    case BlockResolution::Kind::Known:
      return block_slot_[found->second.number];
    case BlockResolution::Kind::StaticInit:
      return kStaticInitSlot;
    case BlockResolution::Kind::Unknown:
      break;
  }
  return kUnknownSlot;
}

Slot Targets::slot_of(const SharedAccess& access, const Impact& impact) {
  if (access.site_role == SiteRole::None) return slot_of(access.block);
  SlotGroup group;
  group.new_threads = access.site_role == SiteRole::StartedBehind;
  for (const BlockId& site : impact.site_sets[access.sites]) group.members.push_back(slot_of(site));
  std::sort(group.members.begin(), group.members.end());
  group.members.erase(std::unique(group.members.begin(), group.members.end()), group.members.end());
  if (group.members.front() == kUnknownSlot) return kUnknownSlot;
  if (group.members.size() == 1 && !group.new_threads) return group.members.front();
  const Slot next = static_cast<Slot>(slots());
  const auto [known, fresh] = slot_of_group_.try_emplace(std::move(group), next);
  if (fresh) groups_.push_back(&known->first);
  return known->second;
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
