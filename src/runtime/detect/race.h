// From a pair of conflicting cells to a finding.
#pragma once

#include <stdint.h>

#include "detect/detector.h"
#include "detect/thread.h"

namespace simrt::rt::detect {

extern Options options;

bool make_races();
/// `thread` made `cell`; `other` is an earlier access that nothing kept apart from it. Both with their
/// places.
void report_race(Thread& thread, uint64_t cell, uint64_t other, uintptr_t word, Evidence evidence);
extern uint32_t race_count;
void note_site_slowly(Thread& thread, uint64_t cell, Site site, uintptr_t word);
inline constexpr unsigned kRacyBits = 12;
extern uint8_t racy_words[1u << kRacyBits];  // by hash: nonzero = a word with it has, or had, a race
inline uint8_t& racy_word(uintptr_t word) {
  return racy_words[word * 0x9e3779b97f4a7c15u >> (64 - kRacyBits)];
}
inline bool has_had_race(uintptr_t word) {
  return race_count != 0 && __atomic_load_n(&racy_word(word), __ATOMIC_ACQUIRE) != 0;
}
/// Tells of a site at memory that has had a race. Cheap when it has not.
inline void note_site(Thread& thread, uint64_t cell, Site site, uintptr_t word) {
  if (has_had_race(word)) [[unlikely]]
    note_site_slowly(thread, cell, site, word);
}
/// The memory gets a new life.
void forget_races(uintptr_t begin, uint64_t size);

void fill_side(Side& side, uint64_t cell, SiteInContext where, uintptr_t word);
void fill_held(LockHeld& held, const HeldKey& key);

void races_fork_child();

}  // namespace simrt::rt::detect
