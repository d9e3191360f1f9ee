#include "detect/shadow.h"

#include <sys/mman.h>

#include "detect/pool.h"
#include "sys/arch.h"

namespace simrt::rt::detect {
namespace {

constexpr uint64_t kByHand = 64 * 1024;  // shadow bytes that are cheaper to clear than to give back

void clear_granules(Granule* begin, Granule* end) {
  for (Granule* g = begin; g < end; ++g)
    for (uint64_t& cell : g->cell) __atomic_store_n(&cell, 0, __ATOMIC_RELAXED);
}

}  // namespace

bool make_shadow() {
  void* shadow = reserve_at(kShadowBase, kShadowBytes);
  if (shadow == nullptr) return false;
  runtime::raw_syscall(SYS_madvise, static_cast<long>(kShadowBase), static_cast<long>(kShadowBytes),
                       MADV_DONTDUMP);
  return true;
}

void clear_shadow(uintptr_t begin, uint64_t size) {
  const uintptr_t first = (begin + 7) & ~uintptr_t{7}, last = (begin + size) & ~uintptr_t{7};
  if (last <= first) return;
  Granule* from = granule_of(first);
  Granule* to = from + (last - first) / 8;
  const auto from_address = reinterpret_cast<uintptr_t>(from), to_address = reinterpret_cast<uintptr_t>(to);
  if (to_address - from_address <= kByHand) {
    clear_granules(from, to);
    return;
  }
  const uintptr_t page_begin = (from_address + 4095) & ~uintptr_t{4095},
                  page_end = to_address & ~uintptr_t{4095};
  clear_granules(from, reinterpret_cast<Granule*>(page_begin));
  forget(reinterpret_cast<void*>(page_begin), page_end - page_begin);
  clear_granules(reinterpret_cast<Granule*>(page_end), to);
}

}  // namespace simrt::rt::detect
