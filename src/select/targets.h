// What coverage is asked about: the blocks of impacted accesses and their partners, and the pairs among them.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "select/select.h"

namespace simrt::select {

/// A place that a test may have entered: one known block, all static initialisers, a group of these
/// (SharedAccess::sites), or an unknown block.
using Slot = std::uint32_t;
inline constexpr Slot kUnknownSlot = 0;
inline constexpr Slot kStaticInitSlot = 1;
inline constexpr Slot kFirstBlockSlot = 2;

/// Entered by whoever enters one of the members; in case of new threads, by threads that differ from all
/// recorded ones.
struct SlotGroup {
  std::vector<Slot> members;  ///< ascending
  bool new_threads = false;
  auto operator<=>(const SlotGroup&) const = default;
};

/// All pairs of accesses that stand in the same two slots: they are covered together or not at all.
struct Goal {
  Slot first, second;                ///< first >= second, so that an unknown slot stands second
  std::vector<std::uint32_t> pairs;  ///< indices into Impact::pairs, ascending
  bool unknown() const { return second == kUnknownSlot; }
};

class Targets {
 public:
  explicit Targets(const SelectInput& input);
  Targets(const Targets&) = delete;

  std::size_t slots() const { return kFirstBlockSlot + numbers_.size() + groups_.size(); }
  Slot slot_of_access(std::uint32_t access) const { return access_slot_[access]; }
  Slot slot_of_block(BlockNumber number) const { return block_slot_[number]; }
  /// The block of a slot that is one.
  BlockNumber number(Slot slot) const { return numbers_[slot - kFirstBlockSlot]; }
  /// Null for a slot that is no group.
  const SlotGroup* group(Slot slot) const {
    return slot < kFirstBlockSlot + numbers_.size() ? nullptr
                                                    : groups_[slot - kFirstBlockSlot - numbers_.size()];
  }
  /// The groups with this slot among their members.
  const std::vector<Slot>& groups_with(Slot slot) const { return groups_with_[slot]; }
  /// The numbers of all slots that are blocks.
  const BlockSet& blocks() const { return blocks_; }

  const std::vector<Goal>& goals() const { return goals_; }
  /// Goals by their first slot.
  const std::vector<std::uint32_t>& goals_of(Slot first) const { return goals_of_[first]; }

  std::uint32_t impacted_accesses(Slot slot) const { return impacted_[slot]; }
  std::uint32_t other_accesses(Slot slot) const { return others_[slot]; }

 private:
  void resolve_accesses(const SelectInput& input);
  void number_slots();
  Slot slot_of(BlockId block) const;
  Slot slot_of(const SharedAccess& access, const Impact& impact);
  void collect_goals(const Impact& impact);

  std::vector<Slot> access_slot_;
  std::unordered_map<BlockId, BlockResolution> resolved_;
  std::vector<BlockNumber> numbers_;  ///< ascending
  std::map<SlotGroup, Slot> slot_of_group_;
  std::vector<const SlotGroup*> groups_;  ///< keys of slot_of_group_
  std::vector<std::vector<Slot>> groups_with_;
  std::vector<Slot> block_slot_;  ///< by block number
  BlockSet blocks_;
  std::vector<Goal> goals_;
  std::vector<std::vector<std::uint32_t>> goals_of_;
  std::vector<std::uint32_t> impacted_, others_;
};

}  // namespace simrt::select
