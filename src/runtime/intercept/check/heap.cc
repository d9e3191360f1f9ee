// The heap: blocks begin and end their lives. Works on glibc's own allocator below malloc, so that nothing
// has to be looked up (dlsym allocates). A program that brings its own malloc keeps it, and does without.
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>

#include "control/point.h"
#include "detect/detector.h"
#include "hooks/abi.h"
#include "intercept/check/counted.h"
#include "intercept/real.h"

#define SIMRT_PC SIMRT_RETURN_ADDRESS

using simrt::rt::controlled;
using simrt::rt::detecting;
using simrt::rt::EventKind;
namespace control = simrt::rt::control;
namespace detect = simrt::rt::detect;

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

void* begin(void* block, uintptr_t pc) {
  if (detecting() && block != nullptr) [[unlikely]] {
    const size_t size = malloc_usable_size(block);
    const simrt::rt::LibraryCall call(pc);
    detect::allocated(reinterpret_cast<uintptr_t>(block), size, pc);
    if (controlled()) control::heap_event(EventKind::Allocate, reinterpret_cast<uintptr_t>(block), size, pc);
  }
  return block;
}

void end(void* block, uintptr_t pc) {
  if (detecting() && block != nullptr) [[unlikely]] {
    const size_t size = malloc_usable_size(block);
    const simrt::rt::LibraryCall call(pc);
    detect::freed(reinterpret_cast<uintptr_t>(block), size, pc);
    if (controlled()) control::heap_event(EventKind::Free, reinterpret_cast<uintptr_t>(block), size, pc);
  }
}

// Freed blocks wait here for a while, so that a use after free meets the free and not the next owner's life.
constexpr size_t kMostKept = 32 * 1024;
constexpr uint32_t kKept = 1024;
void* kept[kKept];
uint32_t kept_next = 0;

void give_back(void* block) {
  if (!detecting() || block == nullptr || malloc_usable_size(block) > kMostKept) {
    __libc_free(block);
    return;
  }
  const uint32_t at = __atomic_fetch_add(&kept_next, 1, __ATOMIC_RELAXED) % kKept;
  __libc_free(__atomic_exchange_n(&kept[at], block, __ATOMIC_ACQ_REL));
}

bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

extern "C" {

SIMRT_EXPORT void* malloc(size_t size) { return begin(__libc_malloc(size), SIMRT_PC); }
SIMRT_EXPORT void* calloc(size_t count, size_t size) { return begin(__libc_calloc(count, size), SIMRT_PC); }
SIMRT_EXPORT void* realloc(void* block, size_t size) {
  end(block, SIMRT_PC);
  void* moved = __libc_realloc(block, size);
  begin(moved != nullptr || size == 0 ? moved : block, SIMRT_PC);  // without memory the block lives on
  return moved;
}
SIMRT_EXPORT void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  end(block, SIMRT_PC);
  void* moved = __libc_realloc(block, bytes);
  begin(moved != nullptr || bytes == 0 ? moved : block, SIMRT_PC);
  return moved;
}
SIMRT_EXPORT void free(void* block) {
  end(block, SIMRT_PC);
  give_back(block);
}
SIMRT_EXPORT void* memalign(size_t alignment, size_t size) {
  return begin(__libc_memalign(alignment, size), SIMRT_PC);
}
SIMRT_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return begin(__libc_memalign(alignment, size), SIMRT_PC);
}
SIMRT_EXPORT int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int error = errno;
  void* made = begin(__libc_memalign(alignment, size), SIMRT_PC);
  errno = error;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

// operator new and delete, for the caller's address. Without memory the C++ library's own throws.
#define SIMRT_NEW(name)                                                 \
  SIMRT_EXPORT void* name(size_t size) {                                \
    void* block = begin(__libc_malloc(size == 0 ? 1 : size), SIMRT_PC); \
    return block != nullptr ? block : SIMRT_REAL(name)(size);           \
  }
#define SIMRT_NEW_ALIGNED(name)                                          \
  SIMRT_EXPORT void* name(size_t size, size_t alignment) {               \
    void* block = begin(__libc_memalign(alignment, size), SIMRT_PC);     \
    return block != nullptr ? block : SIMRT_REAL(name)(size, alignment); \
  }
#define SIMRT_DELETE(name, ...)                  \
  SIMRT_EXPORT void name(__VA_ARGS__) noexcept { \
    end(block, SIMRT_PC);                        \
    give_back(block);                            \
  }
SIMRT_NEW(_Znwm)
SIMRT_NEW(_Znam)
SIMRT_NEW_ALIGNED(_ZnwmSt11align_val_t)
SIMRT_NEW_ALIGNED(_ZnamSt11align_val_t)
SIMRT_EXPORT void* _ZnwmRKSt9nothrow_t(size_t size, const void*) noexcept {
  return begin(__libc_malloc(size == 0 ? 1 : size), SIMRT_PC);
}
SIMRT_EXPORT void* _ZnamRKSt9nothrow_t(size_t size, const void*) noexcept {
  return begin(__libc_malloc(size == 0 ? 1 : size), SIMRT_PC);
}
SIMRT_DELETE(_ZdlPv, void* block)
SIMRT_DELETE(_ZdaPv, void* block)
SIMRT_DELETE(_ZdlPvm, void* block, size_t)
SIMRT_DELETE(_ZdaPvm, void* block, size_t)
SIMRT_DELETE(_ZdlPvSt11align_val_t, void* block, size_t)
SIMRT_DELETE(_ZdaPvSt11align_val_t, void* block, size_t)
SIMRT_DELETE(_ZdlPvmSt11align_val_t, void* block, size_t, size_t)
SIMRT_DELETE(_ZdaPvmSt11align_val_t, void* block, size_t, size_t)
SIMRT_DELETE(_ZdlPvRKSt9nothrow_t, void* block, const void*)
SIMRT_DELETE(_ZdaPvRKSt9nothrow_t, void* block, const void*)
}
