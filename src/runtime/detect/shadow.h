// Shadow memory: what the last accesses to each 8 bytes of the program's memory were.
//
// One granule (four cells, 32 bytes) for 8 bytes, at an address computed from theirs. A cell says which bytes
// were accessed, how, by which thread slot, in which of its segments and at which place in the code. It is
// one word, so that cells are read and written without a lock.
#pragma once

#include <stdint.h>

namespace simrt::rt::detect {

struct alignas(32) Granule {
  static constexpr uint32_t kCells = 4;
  uint64_t cell[kCells];
};

inline void put(Granule& granule, uint32_t at, uint64_t cell) {
  __atomic_store_n(&granule.cell[at], cell, __ATOMIC_RELEASE);
}

// User space addresses keep their lowest 43 bits. Programs live at the bottom (not PIE), in the 2 TiB from
// 0x5555_5555_4000 (PIE and its heap) and in the top 2 TiB (libraries, mmap, stacks): 43 bits keep the three
// apart.
inline constexpr uintptr_t kApplicationMask = (uintptr_t{1} << 43) - 8;
inline constexpr uintptr_t kShadowBase = 0x100000000000;
inline constexpr uintptr_t kShadowScale = sizeof(Granule) / 8;
inline constexpr uintptr_t kShadowBytes = (uintptr_t{1} << 43) * kShadowScale;

inline Granule* granule_of(uintptr_t address) {
  return reinterpret_cast<Granule*>(kShadowBase + (address & kApplicationMask) * kShadowScale);
}

// Cell: bits 0-7 bytes, 8 write, 9 atomic, 10 release of the memory, 11-21 slot, 22-42 the lowest bits of the
// segment, 43-63 place (place.h).
inline constexpr uint64_t kBytes = 0xff, kWrite = 1u << 8, kAtomic = 1u << 9, kRelease = 1u << 10;
inline constexpr unsigned kSlotShift = 11, kSegmentShift = 22, kPlaceShift = 43;
inline constexpr uint32_t kSlots = 1u << (kSegmentShift - kSlotShift);  // threads told apart at once
inline constexpr unsigned kSegmentBits = kPlaceShift - kSegmentShift;
inline constexpr uint64_t kSlotBits = uint64_t{kSlots - 1} << kSlotShift;
inline constexpr uint64_t kPlaceField = ~uint64_t{0} << kPlaceShift;
/// Kind, slot and segment: where two cells differ in none of these, they are one thread's in one segment.
inline constexpr uint64_t kSameStep = ~(kBytes | kPlaceField);
/// Slot and segment.
inline constexpr uint64_t kThreadAndSegment = ~kPlaceField & ~((uint64_t{1} << kSlotShift) - 1);

inline uint64_t cell_base(uint32_t slot, uint64_t segment) {
  return uint64_t{slot} << kSlotShift | (segment & ((uint64_t{1} << kSegmentBits) - 1)) << kSegmentShift;
}
inline uint32_t slot_of(uint64_t cell) { return static_cast<uint32_t>(cell >> kSlotShift) % kSlots; }
inline uint32_t place_of(uint64_t cell) { return static_cast<uint32_t>(cell >> kPlaceShift); }

// Segments are counted on; half of what a cell can tell apart is one era of a slot. When a slot enters the
// next one, all shadow is cleared: cells, and copies of them that somebody still looks at, are of its present
// era or the one before.
inline constexpr unsigned kEraShift = kSegmentBits - 1;
extern uint64_t era_of[kSlots];

inline uint32_t segment_number(uint64_t cell) {
  return static_cast<uint32_t>(cell >> kSegmentShift) & ((1u << kSegmentBits) - 1);
}
inline uint64_t segment_of(uint64_t cell) {
  const uint64_t era = __atomic_load_n(&era_of[slot_of(cell)], __ATOMIC_RELAXED);
  const uint64_t number = segment_number(cell);
  return ((era - ((number >> kEraShift ^ era) & 1)) << kEraShift) + (number & ((1u << kEraShift) - 1));
}

/// An instruction that accesses memory or calls, by the lowest 31 bits of its return address.
using Site = uint32_t;
inline constexpr Site kNoSite = 0x80000000;
inline Site site_of(uintptr_t pc) { return static_cast<Site>(pc) & ~kNoSite; }

/// Position in a table of `1 << bits` entries: neighbours in memory are neighbours there, and what is farther
/// apart than the table is long lies anywhere. `number`: the address, shifted as the table has it.
inline uint32_t near_index(uintptr_t number, unsigned bits) {
  const uint64_t region = (number >> bits) * 0x9e3779b97f4a7c15u >> 32;
  return static_cast<uint32_t>(number + region) & ((1u << bits) - 1);
}

// What is known of the shadow (16 KiB) of a page of the program's memory.
enum class ShadowPage : uint8_t { Untouched, Made, GivenBack };
inline constexpr unsigned kPageShift = 12;
inline constexpr uintptr_t kPage = uintptr_t{1} << kPageShift;
inline uintptr_t page_of(uintptr_t address) { return address & ~(kPage - 1); }
extern uint8_t* shadow_pages;  // by page number
inline ShadowPage shadow_page(uintptr_t address) {
  return static_cast<ShadowPage>(
      __atomic_load_n(&shadow_pages[(address & kApplicationMask) >> kPageShift], __ATOMIC_RELAXED));
}
/// Whether an access in this page may have been entered.
inline bool may_have_shadow(uintptr_t address) { return shadow_page(address) != ShadowPage::Untouched; }

/// False when the address space has no room (another sanitizer, a limit on address space).
bool make_shadow();
/// Before the first access in a page is entered: puts memory behind its shadow.
void make_shadow_page(uintptr_t address);
inline void prepare_shadow(uintptr_t address) {
  if (shadow_page(address) != ShadowPage::Made) [[unlikely]]
    make_shadow_page(address);
}
inline void prepare_shadow(uintptr_t begin, uint64_t size) {
  for (uintptr_t page = page_of(begin); page < begin + size; page += kPage) prepare_shadow(page);
}
/// Forgets all accesses to [begin, begin + size); whole granules only.
void clear_shadow(uintptr_t begin, uint64_t size);
void clear_all_shadow();

}  // namespace simrt::rt::detect
