// The compiler's hooks of -fsanitize=thread for plain accesses and calls: clang 14-19 and g++ 12. Called
// before the access. Off: a load, a compare and a load.
#include "control/point.h"
#include "detect/access.h"
#include "detect/detector.h"
#include "detect/race.h"
#include "hooks/abi.h"

using namespace simrt::rt;

namespace {

constexpr uint64_t kRead = 0;

template <uint32_t kSize, uint64_t kKind, bool kAligned>
[[gnu::always_inline]] inline void watch(uintptr_t address, uintptr_t pc) {
  detect::Thread* thread = detect::watched;
  if (thread == nullptr) [[unlikely]]
    return;
  if (thread->choosy) {
    if constexpr (kSize <= 8) {  // what was watched is wanted
      if ((kAligned || (address & 7) + kSize <= 8) &&
          detect::has_this_site(*detect::granule_of(address),
                                thread->base | kKind | detect::byte_mask(address, kSize),
                                detect::site_of(pc)))
        return;
    }
    if (!detect::options.watch->has(pc)) return;
  }
  if constexpr (kSize <= 8) {
    detect::watch<kAligned>(*thread, address, kSize, kKind, pc);
  } else if (kAligned || (address & 7) == 0) {
    detect::watch<true>(*thread, address, 8, kKind, pc);
    detect::watch<true>(*thread, address + 8, 8, kKind, pc);
  } else {
    const auto head = static_cast<uint32_t>(8 - (address & 7));
    detect::watch<true>(*thread, address, head, kKind, pc);
    detect::watch<true>(*thread, address + head, 8, kKind, pc);
    detect::watch<true>(*thread, address + head + 8, 8 - head, kKind, pc);
  }
}

// Apart, so that the quick path needs no frame.
template <uint32_t kSize, uint64_t kKind, bool kAligned>
[[gnu::noinline]] void plain_slowly(uintptr_t address, uintptr_t pc) {
  if (controlled()) [[unlikely]]
    control::point(kKind == kRead ? EventKind::Read : EventKind::Write, address, kSize, pc);
  detect::Thread* thread = detect::watched;
  if constexpr (kSize <= 8) {
    if (thread != nullptr && thread->first_site_counts && (kAligned || (address & 7) + kSize <= 8)) {
      detect::quick = thread->base;
      return detect::record_plainly(*thread, *detect::granule_of(address),
                                    thread->base | kKind | detect::byte_mask(address, kSize),
                                    address & ~uintptr_t{7}, detect::site_of(pc));
    }
  }
  watch<kSize, kKind, kAligned>(address, pc);
}

template <uint32_t kSize, uint64_t kKind, bool kAligned>
[[gnu::always_inline]] inline void plain(const volatile void* pointer, uintptr_t pc) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if constexpr (kSize <= 8) {
    const uint64_t base = detect::quick;
    if (base != 0 && (kAligned || (address & 7) + kSize <= 8) &&
        detect::is_known<kKind>(*detect::granule_of(address),
                                base | kKind | detect::byte_mask(address, kSize))) [[likely]]
      return;
  }
  plain_slowly<kSize, kKind, kAligned>(address, pc);
}

void spread(uintptr_t address, uint64_t size, bool write, uintptr_t pc) {
  if (size == 0) return;
  if (controlled()) [[unlikely]] {
    control::point(write ? EventKind::Write : EventKind::Read, address, size, pc);
  }
  detect::range(address, size, write, pc);
}

}  // namespace

#define SIMRT_PLAIN(name, size, kind, aligned) \
  SIMRT_HOOK void name(void* address) { plain<size, kind, aligned>(address, SIMRT_RETURN_ADDRESS); }
#define SIMRT_SIZED(size)                                                         \
  SIMRT_PLAIN(__tsan_read##size, size, kRead, true)                               \
  SIMRT_PLAIN(__tsan_write##size, size, detect::kWrite, true)                     \
  SIMRT_PLAIN(__tsan_volatile_read##size, size, kRead, true)                      \
  SIMRT_PLAIN(__tsan_volatile_write##size, size, detect::kWrite, true)            \
  SIMRT_PLAIN(__tsan_unaligned_read##size, size, kRead, false)                    \
  SIMRT_PLAIN(__tsan_unaligned_write##size, size, detect::kWrite, false)          \
  SIMRT_PLAIN(__tsan_unaligned_volatile_read##size, size, kRead, false)           \
  SIMRT_PLAIN(__tsan_unaligned_volatile_write##size, size, detect::kWrite, false) \
  SIMRT_HOOK void __tsan_read_write##size(void* address) {                        \
    plain<size, kRead, true>(address, SIMRT_RETURN_ADDRESS);                      \
    plain<size, detect::kWrite, true>(address, SIMRT_RETURN_ADDRESS);             \
  }                                                                               \
  SIMRT_HOOK void __tsan_unaligned_read_write##size(void* address) {              \
    plain<size, kRead, false>(address, SIMRT_RETURN_ADDRESS);                     \
    plain<size, detect::kWrite, false>(address, SIMRT_RETURN_ADDRESS);            \
  }

extern "C" {

SIMRT_SIZED(1)
SIMRT_SIZED(2)
SIMRT_SIZED(4)
SIMRT_SIZED(8)
SIMRT_SIZED(16)

SIMRT_PLAIN(__tsan_vptr_read, 8, kRead, true)

// Constructors and destructors store the table again and again: only a change matters to others.
SIMRT_HOOK void __tsan_vptr_update(void** table, void* value) {
  if (__atomic_load_n(table, __ATOMIC_RELAXED) == value) return;
  plain<8, detect::kWrite, true>(table, SIMRT_RETURN_ADDRESS);
}

SIMRT_HOOK void __tsan_read_range(void* begin, uintptr_t size) {
  spread(reinterpret_cast<uintptr_t>(begin), size, false, SIMRT_RETURN_ADDRESS);
}
SIMRT_HOOK void __tsan_write_range(void* begin, uintptr_t size) {
  spread(reinterpret_cast<uintptr_t>(begin), size, true, SIMRT_RETURN_ADDRESS);
}

SIMRT_HOOK void __tsan_func_entry(void* caller) {
  if (controlled()) [[unlikely]]
    control::enter_function(reinterpret_cast<uintptr_t>(caller),
                            reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  detect::Thread* thread = detect::self;
  if (thread == nullptr) [[unlikely]]
    return;
  detect::push_frame(*thread, reinterpret_cast<uintptr_t>(caller),
                     reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
}
SIMRT_HOOK void __tsan_func_exit() {
  if (controlled()) [[unlikely]]
    control::leave_function();
  detect::Thread* thread = detect::self;
  if (thread == nullptr) [[unlikely]]
    return;
  detect::pop_frame(*thread);
}

// Every instrumented module's first constructor. The runtime has started by then.
SIMRT_HOOK void __tsan_init() {}
}
