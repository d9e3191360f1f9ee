#include "detect/context.h"

#include <fcntl.h>

#include "detect/pool.h"
#include "sys/arch.h"
#include "sys/lock.h"

namespace simrt::rt::detect {

uint64_t* context_table = nullptr;

namespace {

constexpr uint32_t kContexts = 1u << kContextBits;
constexpr uint32_t kMostProbes = 64;  // a longer run means: full

// Sets of sites: lists that share their tails, each node made once.
struct SetNode {
  Site rest;  // 0 = none; sets only
  Site site;
  Context context;
};
constexpr uint32_t kSetNodes = 1u << 20, kSetTable = 1u << 21, kMemo = 1u << 14;
constexpr uint32_t kLongestSet = 64;

runtime::SpinLock set_lock;
SetNode* set_nodes = nullptr;  // 0 is not used
uint32_t* set_table = nullptr;
uint32_t set_count = 1;
uint64_t* set_memo = nullptr;  // set << 32 | site where the set has the site

uint32_t hash(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 20);
}

// Under the lock. 0 when the table is full.
Site make_node(Site rest, SiteInContext member) {
  uint32_t at = hash(uint64_t{rest} << 32 | member.site, member.context) % kSetTable;
  for (uint32_t probes = 0; probes < kMostProbes; ++probes, at = (at + 1) % kSetTable) {
    const uint32_t id = set_table[at];
    if (id == 0) {
      if (set_count == kSetNodes) return 0;
      set_nodes[set_count] = {rest, member.site, member.context};
      __atomic_store_n(&set_table[at], set_count, __ATOMIC_RELEASE);
      return kSiteSet | set_count++;
    }
    const SetNode& node = set_nodes[id];
    if (node.rest == rest && node.site == member.site && node.context == member.context) return kSiteSet | id;
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
  set_memo = reserve_array<uint64_t>(kMemo);
  ranges = reserve_array<TextRange>(kMostRanges);
  return context_table != nullptr && set_nodes != nullptr && set_table != nullptr && set_memo != nullptr &&
         ranges != nullptr;
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

Site with_site(Site set, Context context, SiteInContext added) {
  const uint64_t key = uint64_t{set} << 32 | added.site;
  uint64_t& memo = set_memo[hash(key, 0) % kMemo];
  if (__atomic_load_n(&memo, __ATOMIC_RELAXED) == key) return set;
  if ((set & kSiteSet) == 0) {
    if (set == added.site) return set;
  } else {
    uint32_t n = 0;
    for (Site at = set; at != 0; at = set_nodes[at & ~kSiteSet].rest, ++n) {
      if (set_nodes[at & ~kSiteSet].site != added.site && n < kLongestSet) continue;
      __atomic_store_n(&memo, key, __ATOMIC_RELAXED);
      return set;
    }
  }
  set_lock.lock();
  Site result = (set & kSiteSet) != 0 ? set : make_node(0, {set, context});
  if (result != 0) result = make_node(result, added);
  set_lock.unlock();
  return result != 0 ? result : set;
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
