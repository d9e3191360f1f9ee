// Plain accesses: the path that every hook of the compiler takes. Epochs after Flanagan and Freund
// (FastTrack, PLDI 2009), with the segment in place of the epoch: an access that its thread has made in this
// segment at this site is over after one or two compares.
#pragma once

#include <stdint.h>

#include "detect/thread.h"

namespace simrt::rt::detect {

/// Threads look for room from different cells on, and so do not meet in one.
inline uint32_t first_cell(const Thread& thread) { return thread.slot % Granule::kCells; }

/// Checks one granule's access against its cells and enters it. `cell` has the bytes and kind.
void record(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
/// The same where the first site counts, of what is not known (is_known).
void record_plainly(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
/// The same; `cell` has its place, and the thread's accesses are not ignored.
void record_at_place(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
/// The same; any granule, any access.
void record_first(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
/// The same where anything may be to be looked into; `cell` has its place.
void record_slowly(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site);
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

/// Whether nothing is to be done for a plain access where the first site counts: a cell of this granule has
/// all that `cell` says but for the place, or, of a read (`kKind` 0), is a write of the same step to these
/// bytes. What conflicts with the read conflicts with that.
template <uint64_t kKind>
inline bool is_known(const Granule& granule, uint64_t cell) {
  // Four comparisons of words in one: of 32-bit halves, as the baseline of x86-64 has them. Each word is read
  // whole.
  using Words = long long __attribute__((vector_size(16)));
  using Halves = int __attribute__((vector_size(16)));
  const auto asked = static_cast<long long>(cell),
             fields = static_cast<long long>((kSameStep & ~(kWrite ^ kKind)) | (cell & kBytes));
  const auto* cells = reinterpret_cast<const volatile Words*>(granule.cell);
  const Words first = cells[0], second = cells[1];
  const auto same = [&](Words words) {
    const auto halves = reinterpret_cast<Halves>((words & Words{fields, fields}) ^ Words{asked, asked}) == 0;
    return halves & __builtin_shufflevector(halves, halves, 1, 0, 3, 2);
  };
  return __builtin_ia32_movmskps(
             reinterpret_cast<float __attribute__((vector_size(16)))>(same(first) | same(second))) != 0;
}

/// The same by an access of its own kind alone; `cell` may have its place.
inline bool is_known_as_such(const Granule& granule, uint64_t cell) {
  return is_known<kWrite>(granule, cell & ~kPlaceField);
}

/// Whether an access in this step has been made at this site, for all that is remembered.
inline bool has_this_site(const Granule& granule, uint64_t cell, Site site) {
  for (const uint64_t& each : granule.cell) {
    const uint64_t there = __atomic_load_n(&each, __ATOMIC_RELAXED);
    if (((there ^ cell) & kSameStep) == 0 && (cell & ~there & kBytes) == 0)
      return surely_has_site(place_of(there), site);
  }
  return false;
}

/// Where every site counts: whether the access is over with a cell of the same step. It has been made at this
/// site, or only its site or its bytes had to be added.
inline bool made_in_this_step(Thread& thread, Granule& granule, uint64_t cell, uintptr_t word, Site site) {
  for (uint32_t i = 0; i < Granule::kCells; ++i) {
    const uint64_t there = __atomic_load_n(&granule.cell[i], __ATOMIC_RELAXED);
    if (((there ^ cell) & kSameStep) != 0) continue;
    const uint64_t missing = cell & ~there & kBytes;
    if (missing == 0 && surely_has_site(place_of(there), site)) [[likely]]
      return true;
    if (missing != 0) {
      if (!is_only_site(place_of(there), site)) continue;
      add_bytes(thread, granule, i, there, cell, word, site);
    } else {
      if (((there ^ cell) & kBytes) != 0) continue;
      add_site(thread, granule, i, there, cell, word, site);
    }
    return true;
  }
  return false;
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
  const uintptr_t word = address & ~uintptr_t{7};
  Granule& granule = *granule_of(address);
  if (thread.first_site_counts) {
    if ((kind & kAtomic) != 0 || !is_known_as_such(granule, cell))
      record_plainly(thread, granule, cell, word, site_of(pc));
    return;
  }
  if (made_in_this_step(thread, granule, cell, word, site_of(pc))) return;
  record(thread, granule, cell, word, site_of(pc));
}

}  // namespace simrt::rt::detect
