#include "detect/pool.h"

#include <sys/mman.h>

#include "sys/arch.h"
#include "sys/lock.h"

namespace simrt::rt::detect {
namespace {

constexpr unsigned kSmallest = 5, kLargest = 16;  // size classes 32 B .. 64 KiB, powers of two
constexpr size_t kSlab = 256 * 1024;

struct Free {
  Free* next;
};

runtime::SpinLock lock;
Free* free_blocks[kLargest + 1];
char* slab_next = nullptr;
char* slab_end = nullptr;

void* map(uintptr_t where, size_t bytes, int more_flags) {
  const long result = runtime::raw_syscall(SYS_mmap, static_cast<long>(where), static_cast<long>(bytes),
                                           PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more_flags, -1, 0);
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<void*>(result);
}

unsigned size_class(size_t bytes) {
  unsigned c = kSmallest;
  while ((size_t{1} << c) < bytes) ++c;
  return c;
}

void clear(void* block, size_t bytes) {
  auto* words = static_cast<volatile uint64_t*>(block);  // volatile: or it becomes a call of memset
  for (size_t i = 0; i < bytes / 8; ++i) words[i] = 0;
}

}  // namespace

void* reserve(size_t bytes) { return map(0, bytes, 0); }

void* reserve_at(uintptr_t where, size_t bytes) {
  void* result = map(where, bytes, MAP_FIXED_NOREPLACE);
  if (result == nullptr || reinterpret_cast<uintptr_t>(result) == where) return result;
  runtime::raw_syscall(SYS_munmap, reinterpret_cast<long>(result), static_cast<long>(bytes));
  return nullptr;
}

void forget(void* begin, size_t bytes) {
  runtime::raw_syscall(SYS_madvise, reinterpret_cast<long>(begin), static_cast<long>(bytes), MADV_DONTNEED);
}

void populate(void* begin, size_t bytes) {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  if (runtime::raw_syscall(SYS_madvise, reinterpret_cast<long>(begin), static_cast<long>(bytes),
                           kPopulateWrite) == 0)
    return;
  auto* page = static_cast<char*>(begin);
  for (size_t at = 0; at < bytes; at += 4096) __atomic_fetch_or(page + at, 0, __ATOMIC_RELAXED);
}

void* take(size_t bytes) {
  if (bytes > (size_t{1} << kLargest)) return map(0, (bytes + 4095) & ~size_t{4095}, 0);
  const unsigned c = size_class(bytes);
  const size_t size = size_t{1} << c;
  lock.lock();
  Free* block = free_blocks[c];
  if (block != nullptr) {
    free_blocks[c] = block->next;
    lock.unlock();
    clear(block, size);
    return block;
  }
  if (static_cast<size_t>(slab_end - slab_next) < size) {
    auto* slab = static_cast<char*>(map(0, kSlab, 0));
    if (slab == nullptr) {
      lock.unlock();
      return nullptr;
    }
    slab_next = slab;
    slab_end = slab + kSlab;
  }
  void* result = slab_next;
  slab_next += size;
  lock.unlock();
  return result;
}

void give_back(void* block, size_t bytes) {
  if (block == nullptr) return;
  if (bytes > (size_t{1} << kLargest)) {
    runtime::raw_syscall(SYS_munmap, reinterpret_cast<long>(block),
                         static_cast<long>((bytes + 4095) & ~size_t{4095}));
    return;
  }
  const unsigned c = size_class(bytes);
  auto* entry = static_cast<Free*>(block);
  lock.lock();
  entry->next = free_blocks[c];
  free_blocks[c] = entry;
  lock.unlock();
}

void pool_fork_child() { lock.reset(); }

}  // namespace simrt::rt::detect
