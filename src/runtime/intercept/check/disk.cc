// Calls that wait for a disk. Under control they return at once: what they are for, a machine that loses its
// power, no execution of a test shows; what they take, up to tens of milliseconds, looks like a thread that
// blocks behind the engine's back, and would let others go on at a moment of the disk's choosing.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/abi.h"
#include "intercept/check/call.h"

namespace {

// Errors (no descriptor, a pipe) are the kernel's to tell: then nothing waits.
bool waits_for_disk(int fd) {
  struct stat status;
  return simrt::rt::modelled_thread() != nullptr && SIMRT_REAL(fstat)(fd, &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode));
}

}  // namespace

extern "C" {

SIMRT_EXPORT int fsync(int fd) { return waits_for_disk(fd) ? 0 : SIMRT_REAL(fsync)(fd); }
SIMRT_EXPORT int fdatasync(int fd) { return waits_for_disk(fd) ? 0 : SIMRT_REAL(fdatasync)(fd); }
SIMRT_EXPORT int syncfs(int fd) noexcept { return waits_for_disk(fd) ? 0 : SIMRT_REAL(syncfs)(fd); }
SIMRT_EXPORT int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags) {
  return waits_for_disk(fd) ? 0 : SIMRT_REAL(sync_file_range)(fd, offset, bytes, flags);
}
SIMRT_EXPORT void sync() noexcept {
  if (simrt::rt::modelled_thread() == nullptr) SIMRT_REAL(sync)();
}
// Whether there is such memory is looked at all the same.
SIMRT_EXPORT int msync(void* begin, size_t bytes, int flags) {
  if ((flags & MS_SYNC) != 0 && simrt::rt::modelled_thread() != nullptr)
    flags = (flags & ~MS_SYNC) | MS_ASYNC;
  return SIMRT_REAL(msync)(begin, bytes, flags);
}
}
