// Plain accesses: the path that every hook of the compiler takes. Epochs after Flanagan and Freund
// (FastTrack, PLDI 2009), with the segment in place of the epoch: an access that its thread has made in this
// segment at this site is over after one or two compares.
#pragma once

#include <stdint.h>

#include "detect/thread.h"

namespace simrt::rt::detect {

/// Checks one granule's access against its cells and enters it. `cell` has the bytes and kind.
void record(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
/// The same where granule.cell[i] is `cell` already, at another site.
void add_site(Thread& thread, Granule& granule, uint32_t i, uint64_t cell, uintptr_t word, Site site);
void record_straddling(Thread& thread, uintptr_t address, uint32_t size, uint64_t kind, uintptr_t pc);

inline uint64_t byte_mask(uintptr_t address, uint32_t size) {
  return ((uint64_t{1} << size) - 1) << (address & 7);
}

template <bool kAligned>
inline void watch(Thread& thread, uintptr_t address, uint32_t size, uint64_t kind, uintptr_t pc) {
  if constexpr (!kAligned) {
    if ((address & 7) + size > 8) [[unlikely]] {
      record_straddling(thread, address, size, kind, pc);
      return;
    }
  }
  const uint64_t cell = thread.base | kind | byte_mask(address, size);
  const uint64_t others_bytes = cell | ~kBytes;  // a cell of more bytes is this one in these bits
  Granule& granule = *granule_of(address);
  const Site site = site_of(pc);
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const uint64_t there = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
    if ((there & others_bytes) != cell) continue;
    const auto sites = static_cast<Site>(__atomic_load_n(&granule.info[i], __ATOMIC_RELAXED));
    if (sites == site || surely_has_site(sites, site)) [[likely]]
      return;
    if (there != cell) continue;
    add_site(thread, granule, i, cell, address & ~uintptr_t{7}, site);
    return;
  }
  record(thread, granule, cell, address & ~uintptr_t{7}, site);
}

}  // namespace simrt::rt::detect
