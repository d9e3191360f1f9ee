// Where accesses were made, as numbers that fit a shadow cell: a site in a calling context, or a set of
// sites.
#pragma once

#include <stdint.h>

#include "detect/context.h"

namespace simrt::rt::detect {

using Place = uint32_t;
inline constexpr unsigned kPlaceBits = 64 - kPlaceShift;
/// Nobody knows: the table is full.
inline constexpr Place kNoPlace = 0;

struct SiteInContext {
  Site site;
  Context context;
};

bool make_places();

/// The place of one site. Safe from any thread, like all of these.
Place make_place(SiteInContext where);

/// Places that are known to have a site: place << 31 | site, by hash.
inline constexpr uint32_t kSiteMemoBits = 14;
extern uint64_t site_memo[1u << kSiteMemoBits];
inline uint64_t site_memo_key(Place place, Site site) { return uint64_t{place} << 31 | site; }
inline uint64_t& site_memo_of(uint64_t key) {
  return site_memo[key * 0x9e3779b97f4a7c15u >> (64 - kSiteMemoBits)];
}
inline bool surely_has_site(Place place, Site site) {
  const uint64_t key = site_memo_key(place, site);
  return __atomic_load_n(&site_memo_of(key), __ATOMIC_RELAXED) == key;
}

/// The place with a site added; unchanged when it has that site already, or when the table is full.
Place with_site(Place place, SiteInContext added);
/// The same where it is remembered; kNoPlace where not.
Place grown_place(Place place, Site added);
/// Whether it is this site and no other.
bool is_only_site(Place place, Site site);
/// The sites, descending; at most `capacity`. Returns how many: 0 for kNoPlace.
uint32_t members(Place place, SiteInContext* out, uint32_t capacity);

void places_fork_child();

}  // namespace simrt::rt::detect
