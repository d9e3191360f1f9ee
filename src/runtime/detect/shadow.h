// Shadow memory: what the last accesses to each 8 bytes of the program's memory were.
//
// One granule (64 bytes: a cache line) for 8 bytes, at an address computed from theirs. A cell says which
// bytes were accessed, how, by which thread slot and in which of its segments; the info word beside it says
// at which sites. Cells are read and written without a lock: a cell beside the info of another one is
// noticed by the tag.
#pragma once

#include <stdint.h>

namespace simrt::rt::detect {

struct alignas(64) Granule {
  static constexpr uint32_t kCells = 4;
  uint64_t cell[kCells];
  uint64_t info[kCells];
};

// User space addresses keep their lowest 43 bits. Programs live at the bottom (not PIE), in the 2 TiB from
// 0x5555_5555_4000 (PIE and its heap) and in the top 2 TiB (libraries, mmap, stacks): 43 bits keep the three
// apart.
inline constexpr uintptr_t kApplicationMask = (uintptr_t{1} << 43) - 8;
inline constexpr uintptr_t kShadowBase = 0x100000000000;
inline constexpr uintptr_t kShadowBytes = (uintptr_t{1} << 43) * 8;

inline Granule* granule_of(uintptr_t address) {
  return reinterpret_cast<Granule*>(kShadowBase + (address & kApplicationMask) * 8);
}

// Cell: bits 0-7 bytes, 8 write, 9 atomic, 10 release of the memory, 11-22 slot, 23-63 segment (from 1).
inline constexpr uint64_t kBytes = 0xff, kWrite = 1u << 8, kAtomic = 1u << 9, kRelease = 1u << 10;
inline constexpr unsigned kSlotShift = 11, kSegmentShift = 23;
inline constexpr uint64_t kSlotBits = uint64_t{0xfff} << kSlotShift;

inline uint64_t cell_base(uint32_t slot, uint64_t segment) {
  return uint64_t{slot} << kSlotShift | segment << kSegmentShift;
}
inline uint32_t slot_of(uint64_t cell) { return static_cast<uint32_t>(cell >> kSlotShift & 0xfff); }
inline uint64_t segment_of(uint64_t cell) { return cell >> kSegmentShift; }

// Info: bits 0-31 site or set of sites, 32-51 calling context, 52-63 tag (low bits of slot and segment).
using Site = uint32_t;
inline constexpr Site kSiteSet = 0x80000000;
inline Site site_of(uintptr_t pc) { return static_cast<Site>(pc) & ~kSiteSet; }
inline uint64_t tag_of(uint64_t cell) {
  return (cell >> kSlotShift & 0x3f) << 52 | (cell >> kSegmentShift & 0x3f) << 58;
}
/// Whether the info word (0: none yet) was entered with this cell, or with one like it.
inline bool has_tag_of(uint64_t info, uint64_t cell) {
  return info != 0 && (info & uint64_t{0xfff} << 52) == tag_of(cell);
}
inline uint64_t info_of(uint64_t cell, Site site, uint32_t context) {
  return tag_of(cell) | uint64_t{context} << 32 | site;
}
inline uint32_t context_of(uint64_t info) { return static_cast<uint32_t>(info >> 32) & 0xfffff; }

// What is known of the shadow (32 KiB) of a page of the program's memory.
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

}  // namespace simrt::rt::detect
