// Calls that open files, for inputs.h: some files hold what the engine does not control, and some outlive the
// execution. No scheduling points.
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "intercept/check/call.h"
#include "intercept/check/inputs.h"
#include "sys/arch.h"
#include "sys/text.h"

namespace simrt::rt {
namespace {

bool begins(const char* path, const char* with) {
  const size_t length = runtime::length(with);
  for (size_t i = 0; i < length; ++i)
    if (path[i] != with[i]) return false;
  return true;
}

bool is_random_device(const char* path) {
  constexpr const char* kDevices[] = {"/dev/urandom", "/dev/random", "/dev/hwrng"};
  for (const char* one : kDevices)
    if (runtime::equal(path, one, runtime::length(one) + 1)) return true;
  return false;
}

// Below TMPDIR everything is new in every execution (testing/scratch).
bool is_scratch(const char* path) {
  const char* scratch = SIMRT_REAL(getenv)("TMPDIR");
  return scratch != nullptr && *scratch != '\0' && begins(path, scratch) &&
         path[runtime::length(scratch)] == '/';
}

enum class Access : uint8_t { Reads, Writes, Creates };

// A regular file that is there when the execution ends, or was when it began.
bool is_kept(int directory, const char* path, Access access) {
  if (access == Access::Reads || is_scratch(path)) return false;
  struct stat status;
  const long failed = runtime::raw_syscall(SYS_newfstatat, directory, reinterpret_cast<long>(path),
                                           reinterpret_cast<long>(&status), 0);
  return failed == 0 ? S_ISREG(status.st_mode) : access == Access::Creates && failed == -ENOENT;
}

const char* last_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path)
    if (*path == '/' && path[1] != '\0') name = path + 1;
  return name;
}

void note_open(int directory, const char* path, Access access, uintptr_t pc) {
  if (path == nullptr) return;
  if (is_random_device(path)) {
    note_input(Input::RandomNumber, path, pc);
  } else if (begins(path, "/proc/") || begins(path, "/sys/")) {
    note_input(Input::SystemState, path, pc);
  } else if (is_wanted(Input::KeptFile) && is_kept(directory, path, access)) {
    note_input(Input::KeptFile, last_name(path), pc);
  }
}

Access access_of(int flags) {
  if ((flags & O_CREAT) != 0) return Access::Creates;
  return (flags & O_ACCMODE) == O_RDONLY ? Access::Reads : Access::Writes;
}

Access access_of(const char* mode) {
  Access access = Access::Reads;
  if (mode == nullptr) return access;
  for (; *mode != '\0' && *mode != ','; ++mode) {
    if (*mode == 'w' || *mode == 'a') return Access::Creates;
    if (*mode == '+') access = Access::Writes;
  }
  return access;
}

// Where none was given, a register holds something; it is looked at only where a file is made.
mode_t mode_of(va_list list) { return static_cast<mode_t>(va_arg(list, int)); }

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

#define SIMRT_MODE(last)             \
  va_list list;                      \
  va_start(list, last);              \
  const mode_t mode = mode_of(list); \
  va_end(list)

extern "C" {

SIMRT_EXPORT int open(const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  note_open(AT_FDCWD, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(open)(path, flags, mode);
}
SIMRT_EXPORT int open64(const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  note_open(AT_FDCWD, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(open64)(path, flags, mode);
}
SIMRT_EXPORT int openat(int directory, const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  note_open(directory, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(openat)(directory, path, flags, mode);
}
SIMRT_EXPORT int openat64(int directory, const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  note_open(directory, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(openat64)(directory, path, flags, mode);
}
SIMRT_EXPORT int creat(const char* path, mode_t mode) {
  note_open(AT_FDCWD, path, Access::Creates, SIMRT_PC);
  return SIMRT_REAL(creat)(path, mode);
}
SIMRT_EXPORT int creat64(const char* path, mode_t mode) {
  note_open(AT_FDCWD, path, Access::Creates, SIMRT_PC);
  return SIMRT_REAL(creat64)(path, mode);
}
SIMRT_EXPORT FILE* fopen(const char* path, const char* mode) {
  note_open(AT_FDCWD, path, access_of(mode), SIMRT_PC);
  return SIMRT_REAL(fopen)(path, mode);
}
SIMRT_EXPORT FILE* fopen64(const char* path, const char* mode) {
  note_open(AT_FDCWD, path, access_of(mode), SIMRT_PC);
  return SIMRT_REAL(fopen64)(path, mode);
}
SIMRT_EXPORT FILE* freopen(const char* path, const char* mode, FILE* stream) {
  note_open(AT_FDCWD, path, access_of(mode), SIMRT_PC);
  return SIMRT_REAL(freopen)(path, mode, stream);
}
SIMRT_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  note_open(AT_FDCWD, path, access_of(mode), SIMRT_PC);
  return SIMRT_REAL(freopen64)(path, mode, stream);
}

// Memory and semaphores with names are files, too; libc opens them by itself.
SIMRT_EXPORT int shm_open(const char* name, int flags, mode_t mode) {
  if (name != nullptr) note_input(Input::KeptFile, last_name(name), SIMRT_PC);
  return SIMRT_REAL(shm_open)(name, flags, mode);
}
SIMRT_EXPORT sem_t* sem_open(const char* name, int flags, ...) {
  note_input(Input::KeptFile, last_name(name), SIMRT_PC);
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  const auto value = va_arg(list, unsigned);
  va_end(list);
  return SIMRT_REAL(sem_open)(name, flags, mode, value);
}

// What fortified builds call in their place.
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
SIMRT_EXPORT int __open_2(const char* path, int flags) {
  note_open(AT_FDCWD, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(__open_2)(path, flags);
}
SIMRT_EXPORT int __open64_2(const char* path, int flags) {
  note_open(AT_FDCWD, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(__open64_2)(path, flags);
}
SIMRT_EXPORT int __openat_2(int directory, const char* path, int flags) {
  note_open(directory, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(__openat_2)(directory, path, flags);
}
SIMRT_EXPORT int __openat64_2(int directory, const char* path, int flags) {
  note_open(directory, path, access_of(flags), SIMRT_PC);
  return SIMRT_REAL(__openat64_2)(directory, path, flags);
}
}
