// The supervisor's executable inside this library, so that nothing has to be found or installed beside simrt.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "support/supervisor.h"

// Standard C++ has no #embed yet.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "simrt_supervisor_begin:\n"
    ".incbin \"" SIMRT_SUPERVISOR_FILE
    "\"\n"
    "simrt_supervisor_end:\n"
    ".popsection\n");

extern "C" {
extern const char simrt_supervisor_begin[] __attribute__((visibility("hidden")));
extern const char simrt_supervisor_end[] __attribute__((visibility("hidden")));
}

namespace simrt::supervisor {
namespace {

int create() {
  constexpr unsigned kExecutable = 0x0010U;  // MFD_EXEC, Linux 6.3
  int descriptor = ::memfd_create("simrt-supervise", MFD_CLOEXEC | kExecutable);
  if (descriptor < 0 && errno == EINVAL) descriptor = ::memfd_create("simrt-supervise", MFD_CLOEXEC);
  const char* at = simrt_supervisor_begin;
  while (descriptor >= 0 && at != simrt_supervisor_end) {
    const ssize_t written = ::write(descriptor, at, static_cast<std::size_t>(simrt_supervisor_end - at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ::close(descriptor);
      return -1;
    }
    at += written;
  }
  return descriptor;
}

}  // namespace

int image() {
  static const int descriptor = create();
  return descriptor;
}

}  // namespace simrt::supervisor
