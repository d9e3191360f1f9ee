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
    uintptr_t pc = (ranges[i].begin & ~uintptr_t{kNoSite - 1}) | site;
    if (pc <= ranges[i].begin) pc += kNoSite;  // a return address is never the first byte of its mapping
    if (pc <= ranges[i].end) return pc;
  }
  return 0;
}

}  // namespace

bool make_contexts() {
  context_table = reserve_array<uint64_t>(kContexts);
  ranges = reserve_array<TextRange>(kMostRanges);
  return context_table != nullptr && ranges != nullptr;
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
    frames[n] = pc_of(static_cast<Site>(key) & ~kNoSite);
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

void contexts_fork_child() { range_lock.reset(); }

}  // namespace simrt::rt::detect
