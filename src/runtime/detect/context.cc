#include "detect/context.h"

#include <fcntl.h>

#include "detect/pool.h"
#include "sys/arch.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

uint64_t* context_table = nullptr;
uint64_t set_memo[kSetMemo];

namespace {

constexpr uint32_t kContexts = 1u << kContextBits;
constexpr uint32_t kMostProbes = 64;  // a longer run means: full

// Sets of sites: lists that share their tails, each node made once.
struct SetNode {
  Site rest;  // 0 = none; sets only
  Site site;
  Context context;  // by which the site was reached when the node was made
};
constexpr uint32_t kSetNodes = 1u << 20, kSetTable = 1u << 21;
constexpr uint32_t kLongestSet = 64;

runtime::SpinLock set_lock;
SetNode* set_nodes = nullptr;  // 0 is not used
uint32_t* set_table = nullptr;
uint32_t set_count = 1;

uint32_t hash(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 20);
}

// Under the lock. 0 when the table is full.
Site make_node(Site rest, SiteInContext member) {
  uint32_t at = hash(uint64_t{rest} << 32 | member.site, 0) % kSetTable;
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kSetTable) {
    const uint32_t id = set_table[at];
    if (id == 0) {
      if (set_count == kSetNodes) return 0;
      set_nodes[set_count] = {rest, member.site, member.context};
      __atomic_store_n(&set_table[at], set_count, __ATOMIC_RELEASE);
      return kSiteSet | set_count++;
    }
    const SetNode& node = set_nodes[id];
    if (node.rest == rest && node.site == member.site) return kSiteSet | id;
  }
  return 0;
}

// Executable mappings, seen so far. Never shrinks: sites of unloaded modules keep their addresses.
struct TextRange {
  uintptr_t begin, end;
};
constexpr uint32_t kMostRanges = 4096;
runtime::SpinLock range_lock;
TextRange* ranges = nullptr;
uint32_t range_count = 0;

void add_range(uintptr_t begin, uintptr_t end) {
  for (uint32_t i = 0; i < range_count; ++i) {
    if (ranges[i].begin == begin && ranges[i].end == end) return;
  }
  if (range_count < kMostRanges) ranges[range_count++] = {begin, end};
}

// "begin-end r-xp ..." lines; the rest of a line is skipped.
struct MapsParser {
  uintptr_t begin = 0, end = 0;
  uint32_t field = 0, column = 0;

  void feed(char c) {
    if (c == '\n') {
      *this = {};
      return;
    }
    if (field < 2) {
      if (c == '-' || c == ' ') {
        ++field;
        return;
      }
      uintptr_t& value = field == 0 ? begin : end;
      value = value * 16 + static_cast<uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    } else if (field == 2 && column++ == 2) {
      if (c == 'x') add_range(begin, end);
      field = 3;
    }
  }
};

void read_ranges() {
  const long fd = runtime::raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"),
                                       O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  MapsParser parser;
  char block[1024];
  long n = 0;
  while ((n = runtime::raw_syscall(SYS_read, fd, reinterpret_cast<long>(block), sizeof block)) > 0) {
    for (long i = 0; i < n; ++i) parser.feed(block[i]);
  }
  runtime::raw_syscall(SYS_close, fd);
}

uintptr_t find_in_ranges(Site site) {
  for (uint32_t i = 0; i < range_count; ++i) {
    uintptr_t pc = (ranges[i].begin & ~uintptr_t{kSiteSet - 1}) | site;
    if (pc <= ranges[i].begin) pc += kSiteSet;  // a return address is never the first byte of its mapping
    if (pc <= ranges[i].end) return pc;
  }
  return 0;
}

}  // namespace

bool make_contexts() {
  context_table = reserve_array<uint64_t>(kContexts);
  set_nodes = reserve_array<SetNode>(kSetNodes);
  set_table = reserve_array<uint32_t>(kSetTable);
  ranges = reserve_array<TextRange>(kMostRanges);
  return context_table != nullptr && set_nodes != nullptr && set_table != nullptr && ranges != nullptr;
}

Context child_context_slowly(Context parent, uint64_t key, uint32_t position) {
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, position = (position + 1) % kContexts) {
    if (position == kNoContext) continue;
    uint64_t found = __atomic_load_n(&context_table[position], __ATOMIC_RELAXED);
    if (found == 0 && __atomic_compare_exchange_n(&context_table[position], &found, key, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return position;
    }
    if (found == key) return position;
  }
  return parent;  // full: the frame is missing in reports
}

uint32_t context_frames(Context context, uintptr_t* frames, uint32_t capacity) {
  uint32_t n = 0;
  for (; context != kNoContext && n < capacity; ++n) {
    const uint64_t key = __atomic_load_n(&context_table[context], __ATOMIC_RELAXED);
    frames[n] = pc_of(static_cast<Site>(key) & ~kSiteSet);
    context = static_cast<Context>(key >> 32);
  }
  return n;
}

uintptr_t pc_of(Site site) {
  range_lock.lock();
  uintptr_t pc = find_in_ranges(site);
  if (pc == 0) {
    read_ranges();
    pc = find_in_ranges(site);
  }
  range_lock.unlock();
  return pc;
}

namespace {

// What became of sets before. Written without a lock: an entry counts when its key, read before and after,
// fits.
struct Grown {
  uint64_t set_and_site;
  Site result;
};
constexpr uint32_t kGrown = 1u << 13;
Grown grown[kGrown];
Grown& grown_of(uint64_t key) { return grown[key * 0x9e3779b97f4a7c15u >> (64 - 13)]; }

// Ascending by site, so that one set of sites is one set whoever came first. Under the lock.
Site make_set(Site set, Context context, SiteInContext added) {
  SiteInContext list[kLongestSet + 1];
  uint32_t n = members(set, context, list, kLongestSet);  // descending
  uint32_t at = n++;
  for (; at > 0 && list[at - 1].site < added.site; --at) list[at] = list[at - 1];
  list[at] = added;
  Site result = 0;
  for (uint32_t i = n; i-- > 0;) {
    result = make_node(result, list[i]);
    if (result == 0) return set;
  }
  return result;
}

bool has_site(Site set, Site site) {
  if ((set & kSiteSet) == 0) return set == site;
  uint32_t n = 0;
  for (Site at = set; at != 0; at = set_nodes[at & ~kSiteSet].rest) {
    if (set_nodes[at & ~kSiteSet].site == site || ++n == kLongestSet) return true;  // a full set has all
  }
  return false;
}

}  // namespace

Site grown_set(Site set, Site added) {
  const uint64_t key = uint64_t{set} << 32 | added;
  const Grown& memo = grown_of(key);
  if (__atomic_load_n(&memo.set_and_site, __ATOMIC_ACQUIRE) != key) return 0;
  const Site result = __atomic_load_n(&memo.result, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&memo.set_and_site, __ATOMIC_ACQUIRE) == key ? result : 0;
}

Site with_site(Site set, Context context, SiteInContext added) {
  const uint64_t key = uint64_t{set} << 32 | added.site;
  if (const Site known = grown_set(set, added.site)) return known;
  Grown& memo = grown_of(key);
  if (has_site(set, added.site)) {
    __atomic_store_n(&set_memo_of(key), key, __ATOMIC_RELAXED);
    return set;
  }
  set_lock.lock();
  const Site result = make_set(set, context, added);
  __atomic_store_n(&memo.set_and_site, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&memo.result, result, __ATOMIC_RELEASE);
  __atomic_store_n(&memo.set_and_site, key, __ATOMIC_RELEASE);
  set_lock.unlock();
  return result;
}

uint32_t members(Site set, Context context, SiteInContext* out, uint32_t capacity) {
  if ((set & kSiteSet) == 0) {
    out[0] = {set, context};
    return 1;
  }
  uint32_t n = 0;
  for (Site at = set; at != 0 && n < capacity; at = set_nodes[at & ~kSiteSet].rest) {
    const SetNode& node = set_nodes[at & ~kSiteSet];
    out[n++] = {node.site, node.context};
  }
  return n;
}

void contexts_fork_child() {
  set_lock.reset();
  range_lock.reset();
}

}  // namespace simrt::rt::detect
