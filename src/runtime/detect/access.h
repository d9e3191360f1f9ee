// Plain accesses: the path that every hook of the compiler takes. Epochs after Flanagan and Freund
// (FastTrack, PLDI 2009), with the segment in place of the epoch: an access that its thread has made in this
// segment at this site is over after one or two compares.
#pragma once

#include <stdint.h>

#include "detect/thread.h"

namespace simrt::rt::detect {

/// Checks one granule's access against its cells and enters it. `cell` has the bytes and kind.
void record(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
/// The same where granule.cell[i], `there`, is one of the same step and bytes, made elsewhere.
void add_site(Thread& thread, Granule& granule, uint32_t i, uint64_t there, uint64_t cell, uintptr_t word,
              Site site);
/// The same where granule.cell[i], `there`, is one of the same step and site, but has not all of its bytes.
void add_bytes(Thread& thread, Granule& granule, uint32_t i, uint64_t there, uint64_t cell, uintptr_t word,
               Site site);
void record_straddling(Thread& thread, uintptr_t address, uint32_t size, uint64_t kind, uintptr_t pc);

inline uint64_t byte_mask(uintptr_t address, uint32_t size) {
  return ((uint64_t{1} << size) - 1) << (address & 7);
}

/// Whether a cell of this granule has all that `cell` says, and its place does not matter.
inline bool is_known(const Granule& granule, uint64_t cell) {
  // Four comparisons of words in one: of 32-bit halves, as the baseline of x86-64 has them. Each word is read
  // whole.
  using Words = long long __attribute__((vector_size(16)));
  using Halves = int __attribute__((vector_size(16)));
  const auto asked = static_cast<long long>(cell),
             fields = static_cast<long long>(kSameStep | (cell & kBytes));
  const auto* cells = reinterpret_cast<const volatile Words*>(granule.cell);
  const Words first = cells[0], second = cells[1];
  const auto same = [&](Words words) {
    const auto halves = reinterpret_cast<Halves>((words & Words{fields, fields}) ^ Words{asked, asked}) == 0;
    return halves & __builtin_shufflevector(halves, halves, 1, 0, 3, 2);
  };
  return __builtin_ia32_movmskps(
             reinterpret_cast<float __attribute__((vector_size(16)))>(same(first) | same(second))) != 0;
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
  Granule& granule = *granule_of(address);
  const Site site = site_of(pc);
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const uint64_t there = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
    if (((there ^ cell) & kSameStep) != 0) continue;
    const uint64_t missing = cell & ~there & kBytes;
    if (missing == 0 && (thread.first_site_counts || surely_has_site(place_of(there), site))) [[likely]]
      return;
    if (missing != 0) {
      if (!is_only_site(place_of(there), site)) continue;
      add_bytes(thread, granule, i, there, cell, address & ~uintptr_t{7}, site);
    } else {
      if (((there ^ cell) & kBytes) != 0) continue;
      add_site(thread, granule, i, there, cell, address & ~uintptr_t{7}, site);
    }
    return;
  }
  record(thread, granule, cell, address & ~uintptr_t{7}, site);
}

}  // namespace simrt::rt::detect
