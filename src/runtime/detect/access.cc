#include "detect/access.h"

#include "detect/detector.h"
#include "detect/race.h"
#include "detect/survey.h"

namespace simrt::rt::detect {

void record_straddling(Thread& thread, uintptr_t address, uint32_t size, uint64_t kind, uintptr_t pc) {
  const auto first = static_cast<uint32_t>(8 - (address & 7));
  watch<true>(thread, address, first, kind, pc);
  watch<true>(thread, address + first, size - first, kind, pc);
}

namespace {

// Of a longer range the beginning is watched: a program whose data a race has damaged copies what never was.
constexpr uint64_t kLongestRange = 16u << 20;

// `visit(address, bytes)` for the part of the range in each 8 bytes.
template <class Visit>
void each_word(uintptr_t address, uintptr_t end, Visit visit) {
  while (address < end) {
    const auto here = static_cast<uint32_t>(8 - (address & 7));
    const uint32_t n = end - address < here ? static_cast<uint32_t>(end - address) : here;
    visit(address, n);
    address += n;
  }
}

void watch_range(Thread& thread, uintptr_t address, uint64_t size, uint64_t kind, uintptr_t pc) {
  const uintptr_t end = address + (size < kLongestRange ? size : kLongestRange);
  if (thread.first_site_counts) {
    if (thread.ignored != 0) return;
    const Site site = site_of(pc);
    const uint64_t base = thread.base | kind | uint64_t{place_at(thread, site)} << kPlaceShift;
    each_word(address, end, [&](uintptr_t at, uint32_t n) {
      Granule& granule = *granule_of(at);
      const uint64_t cell = base | byte_mask(at, n);
      if (!is_known_as_such(granule, cell)) record_at_place(thread, granule, cell, at & ~uintptr_t{7}, site);
    });
    return;
  }
  each_word(address, end, [&](uintptr_t at, uint32_t n) { watch<true>(thread, at, n, kind, pc); });
}

}  // namespace

void access(uintptr_t address, uint32_t size, bool write, uintptr_t pc) {
  if (watched == nullptr) return;
  if (size > 8) {
    watch_range(*watched, address, size, write ? kWrite : 0, pc);
  } else {
    watch<false>(*watched, address, size, write ? kWrite : 0, pc);
  }
}

void range(uintptr_t address, uint64_t size, bool write, uintptr_t pc) {
  if (watched != nullptr) watch_range(*watched, address, size, write ? kWrite : 0, pc);
}

namespace {

// [begin, end) lies in one page, which has its shadow.
void release_in_page(Thread& thread, uintptr_t begin, uintptr_t end, uintptr_t marked_end, Site site) {
  const uint64_t place = uint64_t{place_at(thread, site)} << kPlaceShift;
  each_word(begin, end, [&](uintptr_t at, uint32_t n) {
    const uint64_t cell = thread.base | kWrite | kRelease | byte_mask(at, n);
    Granule& granule = *granule_of(at);
    if (!Seen(granule).nothing()) {
      if (thread.first_site_counts)
        return record_at_place(thread, granule, cell | place, at & ~uintptr_t{7}, site);
      record(thread, granule, cell, at & ~uintptr_t{7}, site);
    } else if (at < marked_end) {
      put(granule, first_cell(thread), cell | place);  // as in most of what a program frees
    }
  });
}

}  // namespace

// The beginning of the block is marked, for accesses that come behind the release. The rest is checked
// against the accesses that there were: most blocks of that size are never written whole, and where only some
// sites are watched few blocks have been accessed at all.
void release_memory(Thread& thread, uintptr_t address, uint64_t size, uintptr_t pc) {
  if (thread.ignored != 0) return;
  const uintptr_t end = address + size, marked_end = address + (options.partial ? 64 : 1024);
  for (uintptr_t at = address; at < end;) {
    const uintptr_t next = page_of(at) + kPage, here = next < end ? next : end;
    if (at < marked_end) prepare_shadow(at);
    if (may_have_shadow(at)) release_in_page(thread, at, here, marked_end, site_of(pc));
    at = here;
  }
}

}  // namespace simrt::rt::detect
