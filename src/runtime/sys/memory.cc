#include "sys/memory.h"

#include <sys/mman.h>

#include "sys/arch.h"
#include "sys/lock.h"

namespace simrt::runtime {
namespace {

constexpr size_t kSlab = 256 * 1024;
char* slab_next = nullptr;
char* slab_end = nullptr;
SpinLock lock;

char* map_anonymous(size_t bytes) {
  const long result = raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<char*>(result);
}

}  // namespace

void reset_allocator_in_child() { lock.reset(); }

void* allocate(size_t bytes) {
  bytes = (bytes + 15) & ~size_t{15};
  if (bytes > kSlab / 4) return map_anonymous((bytes + 4095) & ~size_t{4095});
  const Guard guard(lock);
  if (static_cast<size_t>(slab_end - slab_next) < bytes) {
    char* slab = map_anonymous(kSlab);
    if (slab == nullptr) return nullptr;
    slab_next = slab;
    slab_end = slab + kSlab;
  }
  char* result = slab_next;
  slab_next += bytes;
  return result;
}

}  // namespace simrt::runtime
