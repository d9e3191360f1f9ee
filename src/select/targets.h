// What coverage is asked about: the blocks of impacted accesses and their partners, and the pairs among them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "select/select.h"

namespace simrt::select {

/// A place that a test may have entered: one known block, all static initialisers, anywhere at all (accesses
/// that stand for many, SharedAccess::stands_for), a thread of the changed version that is started behind a
/// known block (SharedAccess::reached_from), or an unknown block.
using Slot = std::uint32_t;
inline constexpr Slot kUnknownSlot = 0;
inline constexpr Slot kStaticInitSlot = 1;
inline constexpr Slot kAnywhereSlot = 2;
inline constexpr Slot kFirstBlockSlot = 3;

/// All pairs of accesses that stand in the same two slots: they are covered together or not at all.
struct Goal {
  Slot first, second;                ///< first >= second, so that an unknown slot stands second
  std::vector<std::uint32_t> pairs;  ///< indices into Impact::pairs, ascending
  bool unknown() const { return second == kUnknownSlot; }
};

class Targets {
 public:
  explicit Targets(const SelectInput& input);

  std::size_t slots() const { return kFirstBlockSlot + numbers_.size() + started_behind_.size(); }
  Slot slot_of_access(std::uint32_t access) const { return access_slot_[access]; }
  Slot slot_of_block(BlockNumber number) const { return block_slot_[number]; }
  /// The block of a slot; of a started thread's slot the block that it is started behind.
  BlockNumber number(Slot slot) const {
    const std::size_t index = slot - kFirstBlockSlot;
    return index < numbers_.size() ? numbers_[index] : started_behind_[index - numbers_.size()];
  }
  bool is_started_thread(Slot slot) const { return slot >= kFirstBlockSlot + numbers_.size(); }
  /// The slot of threads that are started behind the block of `slot`; kUnknownSlot when no access is.
  Slot thread_started_behind(Slot slot) const {
    return slot < thread_slot_.size() ? thread_slot_[slot] : kUnknownSlot;
  }
  /// The numbers of all slots that are blocks.
  const BlockSet& blocks() const { return blocks_; }

  const std::vector<Goal>& goals() const { return goals_; }
  /// Goals by their first slot.
  const std::vector<std::uint32_t>& goals_of(Slot first) const { return goals_of_[first]; }

  std::uint32_t impacted_accesses(Slot slot) const { return impacted_[slot]; }
  std::uint32_t other_accesses(Slot slot) const { return others_[slot]; }

 private:
  void resolve_accesses(const SelectInput& input);
  void number_slots(const std::vector<BlockResolution>& blocks, const std::vector<BlockResolution>& behind);
  void collect_goals(const Impact& impact);

  std::vector<Slot> access_slot_;
  std::vector<BlockNumber> numbers_;         ///< ascending
  std::vector<BlockNumber> started_behind_;  ///< ascending, a subset of numbers_
  std::vector<Slot> thread_slot_;            ///< by slot of a block
  std::vector<Slot> block_slot_;             ///< by block number
  BlockSet blocks_;
  std::vector<Goal> goals_;
  std::vector<std::vector<std::uint32_t>> goals_of_;
  std::vector<std::uint32_t> impacted_, others_;
};

}  // namespace simrt::select
