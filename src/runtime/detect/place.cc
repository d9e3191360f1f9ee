#include "detect/place.h"

#include "detect/pool.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

uint64_t site_memo[1u << kSiteMemoBits];

namespace {

// A site in a context, or a set: lists of sites that share their tails. Each node is made once; in a set it
// has the context by which its site was reached then.
struct Node {
  Place rest;  // kNoPlace = none
  Site site;   // and kInSet
  Context context;
};
constexpr Site kInSet = kNoSite;
constexpr uint32_t kNodes = 1u << kPlaceBits, kTable = 1u << (kPlaceBits + 1), kMostProbes = 64;
constexpr uint32_t kNearlyFull = kNodes / 8 * 7;
constexpr uint32_t kLongestSet = 64;

runtime::SpinLock lock;
Node* nodes = nullptr;  // kNoPlace is not used
Place* table = nullptr;
uint32_t count = 1;

uint32_t hash(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 20);
}

bool is_set(const Node& node) { return (node.site & kInSet) != 0; }

// Under the lock. kNoPlace when the table is full.
Place find_or_make(Node wanted) {
  const Context context = is_set(wanted) ? kNoContext : wanted.context;
  uint32_t at = hash(uint64_t{wanted.rest} << 32 | wanted.site, context) % kTable;
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kTable) {
    const Place place = table[at];
    if (place == kNoPlace) {
      if (count == kNodes) return kNoPlace;
      nodes[count] = wanted;
      __atomic_store_n(&table[at], count, __ATOMIC_RELEASE);
      return count++;
    }
    const Node& node = nodes[place];
    if (node.rest == wanted.rest && node.site == wanted.site && (is_set(node) || node.context == context))
      return place;
  }
  return kNoPlace;
}

// What became of places before. Written without a lock: an entry counts when its key, read before and after,
// fits.
struct Grown {
  uint64_t key;
  Place result;
};
constexpr unsigned kGrownBits = 13;
Grown grown[1u << kGrownBits];
Grown& grown_of(uint64_t key) { return grown[key * 0x9e3779b97f4a7c15u >> (64 - kGrownBits)]; }

// Ascending by site, so that one set of sites is one set whoever came first. Under the lock.
Place make_set(Place place, SiteInContext added) {
  SiteInContext list[kLongestSet + 1];
  uint32_t n = members(place, list, kLongestSet);  // descending
  uint32_t at = n++;
  for (; at > 0 && list[at - 1].site < added.site; --at) list[at] = list[at - 1];
  list[at] = added;
  Place result = kNoPlace;
  for (uint32_t i = n; i-- > 0;) {
    result = find_or_make({result, list[i].site | kInSet, list[i].context});
    if (result == kNoPlace) return place;
  }
  return result;
}

bool has_site(Place place, Site site) {
  uint32_t n = 0;
  for (; place != kNoPlace; place = nodes[place].rest) {
    if ((nodes[place].site & ~kInSet) == site || ++n == kLongestSet) return true;  // a full set has all
  }
  return false;
}

}  // namespace

bool make_places() {
  nodes = reserve_array<Node>(kNodes);
  table = reserve_array<Place>(kTable);
  return nodes != nullptr && table != nullptr;
}

// The last places are for sites alone, of which there are fewer.
Place make_place(SiteInContext where) {
  lock.lock();
  Place place = kNoPlace;
  if (count < kNearlyFull) place = find_or_make({kNoPlace, where.site, where.context});
  if (place == kNoPlace) place = find_or_make({kNoPlace, where.site, kNoContext});
  lock.unlock();
  return place;
}

Place grown_place(Place place, Site added) {
  const uint64_t key = site_memo_key(place, added);
  const Grown& memo = grown_of(key);
  if (__atomic_load_n(&memo.key, __ATOMIC_ACQUIRE) != key) return kNoPlace;
  const Place result = __atomic_load_n(&memo.result, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&memo.key, __ATOMIC_ACQUIRE) == key ? result : kNoPlace;
}

Place with_site(Place place, SiteInContext added) {
  if (place == kNoPlace) return place;
  const uint64_t key = site_memo_key(place, added.site);
  if (const Place known = grown_place(place, added.site)) return known;
  if (has_site(place, added.site)) {
    __atomic_store_n(&site_memo_of(key), key, __ATOMIC_RELAXED);
    return place;
  }
  Grown& memo = grown_of(key);
  lock.lock();
  const Place result = make_set(place, added);
  __atomic_store_n(&memo.key, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&memo.result, result, __ATOMIC_RELEASE);
  __atomic_store_n(&memo.key, key, __ATOMIC_RELEASE);
  lock.unlock();
  return result;
}

bool is_only_site(Place place, Site site) {
  return place != kNoPlace && nodes[place].rest == kNoPlace && (nodes[place].site & ~kInSet) == site;
}

uint32_t members(Place place, SiteInContext* out, uint32_t capacity) {
  uint32_t n = 0;
  for (; place != kNoPlace && n < capacity; place = nodes[place].rest)
    out[n++] = {nodes[place].site & ~kInSet, nodes[place].context};
  return n;
}

void places_fork_child() { lock.reset(); }

}  // namespace simrt::rt::detect
