#include "detect/shadow.h"

#include <sys/mman.h>

#include "detect/pool.h"
#include "detect/survey.h"
#include "sys/arch.h"

namespace simrt::rt::detect {

uint8_t* shadow_pages = nullptr;
uint64_t era_of[kSlots];

namespace {

constexpr uint64_t kByHand = 2 * kPage;  // what is cheaper to clear than to give back
constexpr uint64_t kHuge = 1u << 30;     // not looked at page by page

void set_shadow_page(uintptr_t address, ShadowPage state) {
  __atomic_store_n(&shadow_pages[(address & kApplicationMask) >> kPageShift], static_cast<uint8_t>(state),
                   __ATOMIC_RELAXED);
}

// Not looked at first: a store waits for memory in the background, a load does not.
void clear_granules(Granule* begin, const Granule* end) {
  for (Granule* granule = begin; granule < end; ++granule) {
    auto* cells = reinterpret_cast<volatile Words*>(granule->cell);
    cells[0] = Words{0, 0};
    cells[1] = Words{0, 0};
  }
}

void clear_by_hand(uintptr_t begin, uintptr_t end) {
  while (begin < end) {
    const uintptr_t next = page_of(begin) + kPage, here = next < end ? next : end;
    if (may_have_shadow(begin)) clear_granules(granule_of(begin), granule_of(begin) + (here - begin) / 8);
    begin = here;
  }
}

// A thread that enters an access at this moment may leave a cell behind: the page does not become untouched.
void give_pages_back(uintptr_t begin, uintptr_t end) {
  for (uintptr_t page = begin; page < end; page += kPage) set_shadow_page(page, ShadowPage::GivenBack);
  forget(granule_of(begin), (end - begin) * kShadowScale);
}

void clear_pages(uintptr_t begin, uintptr_t end) {
  if (end - begin > kHuge) {
    forget(granule_of(begin), (end - begin) * kShadowScale);
    return;
  }
  uintptr_t page = begin;
  while (page < end) {
    while (page < end && !may_have_shadow(page)) page += kPage;
    uintptr_t behind = page;
    while (behind < end && may_have_shadow(behind)) behind += kPage;
    if (behind != page) give_pages_back(page, behind);
    page = behind;
  }
}

}  // namespace

bool make_shadow() {
  void* shadow = reserve_at(kShadowBase, kShadowBytes);
  shadow_pages = reserve_array<uint8_t>((kApplicationMask >> kPageShift) + 1);
  if (shadow == nullptr || shadow_pages == nullptr) return false;
  runtime::raw_syscall(SYS_madvise, static_cast<long>(kShadowBase), static_cast<long>(kShadowBytes),
                       MADV_DONTDUMP);
  return true;
}

void make_shadow_page(uintptr_t address) {
  // Who goes through memory gets the next pages with this one.
  constexpr uintptr_t kAhead = 4;
  const uintptr_t page = page_of(address);
  const bool goes_on = shadow_page(page - kPage) == ShadowPage::Made;
  uintptr_t end = page;
  do {
    set_shadow_page(end, ShadowPage::Made);
    end += kPage;
  } while (goes_on && end < page + kAhead * kPage && (end & kApplicationMask) != 0 &&
           shadow_page(end) != ShadowPage::Made);
  populate(granule_of(page), (end - page) * kShadowScale);
}

void clear_shadow(uintptr_t begin, uint64_t size) {
  const uintptr_t first = (begin + 7) & ~uintptr_t{7}, last = (begin + size) & ~uintptr_t{7};
  if (last <= first) return;
  if (last - first <= kByHand) return clear_by_hand(first, last);
  const uintptr_t page_begin = page_of(first + kPage - 1), page_end = page_of(last);
  clear_by_hand(first, page_begin);
  clear_pages(page_begin, page_end);
  clear_by_hand(page_end, last);
}

// What is known of the pages stays: those that are accessed again cost page faults.
void clear_all_shadow() { forget(reinterpret_cast<void*>(kShadowBase), kShadowBytes); }

}  // namespace simrt::rt::detect
