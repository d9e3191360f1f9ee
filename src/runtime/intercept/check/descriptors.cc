#include "intercept/check/descriptors.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "control/point.h"
#include "detect/detector.h"
#include "intercept/real.h"

namespace simrt::rt {
namespace {

// Places in memory that nobody else uses; two descriptors with one place order more than there is.
constexpr uint32_t kPlaces = 4096;
char places[kPlaces], sockets, any;

uintptr_t address(const char& place) { return reinterpret_cast<uintptr_t>(&place); }

// 0: it orders nothing.
uintptr_t object_of(int fd) {
  const int error = errno;
  struct stat status;
  const bool known = SIMRT_REAL(fstat)(fd, &status) == 0;
  errno = error;
  if (!known) return 0;
  constexpr mode_t kAnonymous = 0;  // eventfd, timerfd, signalfd
  switch (status.st_mode & S_IFMT) {
    case S_IFIFO:
      return address(places[status.st_ino % kPlaces]);
    case S_IFSOCK:
      return address(sockets);
    case kAnonymous:
      return address(places[static_cast<uint32_t>(fd) % kPlaces]);
    default:
      return 0;
  }
}

}  // namespace

void descriptor_written(int fd) {
  if (!detecting()) return;
  const uintptr_t object = object_of(fd);
  if (object == 0) return;
  detect::released(object);
  detect::released(address(any));
}

void descriptor_read(int fd) {
  if (!detecting()) return;
  if (const uintptr_t object = object_of(fd); object != 0) detect::acquired(object);
}

void descriptors_ready() {
  if (detecting()) detect::acquired(address(any));
}

}  // namespace simrt::rt
