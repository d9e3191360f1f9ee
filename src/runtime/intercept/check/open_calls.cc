// Calls that open files, for inputs.h: some files hold what the engine does not control, and some outlive the
// execution. No scheduling points.
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
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

// A regular file that is there when the execution ends, or was when it began. Asked behind the call.
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

bool has_failed(int result) { return result < 0; }
bool has_failed(const FILE* result) { return result == nullptr; }

void note_open(int directory, const char* path, Access access, uintptr_t pc) {
  if (is_random_device(path)) {
    note_input(Input::RandomNumber, path, pc);
  } else if (begins(path, "/proc/") || begins(path, "/sys/")) {
    note_input(Input::SystemState, path, pc);
  } else if (is_wanted(Input::KeptFile) && is_kept(directory, path, access)) {
    note_input(Input::KeptFile, last_name(path), pc);
  }
}

// Behind the call, which tells whether there is anything at the address of the path.
template <class Opened>
Opened opened(Opened result, int directory, const char* path, Access access, uintptr_t pc) {
  if (path == nullptr || (has_failed(result) && errno == EFAULT)) return result;
  const int error = errno;
  note_open(directory, path, access, pc);
  errno = error;
  return result;
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
  return opened(SIMRT_REAL(open)(path, flags, mode), AT_FDCWD, path, access_of(flags), SIMRT_PC);
}
SIMRT_EXPORT int open64(const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  return opened(SIMRT_REAL(open64)(path, flags, mode), AT_FDCWD, path, access_of(flags), SIMRT_PC);
}
SIMRT_EXPORT int openat(int directory, const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  return opened(SIMRT_REAL(openat)(directory, path, flags, mode), directory, path, access_of(flags),
                SIMRT_PC);
}
SIMRT_EXPORT int openat64(int directory, const char* path, int flags, ...) {
  SIMRT_MODE(flags);
  return opened(SIMRT_REAL(openat64)(directory, path, flags, mode), directory, path, access_of(flags),
                SIMRT_PC);
}
SIMRT_EXPORT int creat(const char* path, mode_t mode) {
  return opened(SIMRT_REAL(creat)(path, mode), AT_FDCWD, path, Access::Creates, SIMRT_PC);
}
SIMRT_EXPORT int creat64(const char* path, mode_t mode) {
  return opened(SIMRT_REAL(creat64)(path, mode), AT_FDCWD, path, Access::Creates, SIMRT_PC);
}
SIMRT_EXPORT FILE* fopen(const char* path, const char* mode) {
  return opened(SIMRT_REAL(fopen)(path, mode), AT_FDCWD, path, access_of(mode), SIMRT_PC);
}
SIMRT_EXPORT FILE* fopen64(const char* path, const char* mode) {
  return opened(SIMRT_REAL(fopen64)(path, mode), AT_FDCWD, path, access_of(mode), SIMRT_PC);
}
SIMRT_EXPORT FILE* freopen(const char* path, const char* mode, FILE* stream) {
  return opened(SIMRT_REAL(freopen)(path, mode, stream), AT_FDCWD, path, access_of(mode), SIMRT_PC);
}
SIMRT_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  return opened(SIMRT_REAL(freopen64)(path, mode, stream), AT_FDCWD, path, access_of(mode), SIMRT_PC);
}

// Memory, semaphores and queues with names are files, too; libc opens them by itself.
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

SIMRT_EXPORT mqd_t mq_open(const char* name, int flags, ...) {
  note_input(Input::KeptFile, last_name(name), SIMRT_PC);
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(list);
  mq_attr* attributes = va_arg(list, mq_attr*);
  va_end(list);
  return SIMRT_REAL(mq_open)(name, flags, mode, attributes);
}

// What System V keeps is found by a key, and stays.
SIMRT_EXPORT int shmget(key_t key, size_t size, int flags) {
  if (key != IPC_PRIVATE) note_input(Input::KeptFile, "shmget", SIMRT_PC);
  return SIMRT_REAL(shmget)(key, size, flags);
}
SIMRT_EXPORT int semget(key_t key, int count, int flags) {
  if (key != IPC_PRIVATE) note_input(Input::KeptFile, "semget", SIMRT_PC);
  return SIMRT_REAL(semget)(key, count, flags);
}
SIMRT_EXPORT int msgget(key_t key, int flags) {
  if (key != IPC_PRIVATE) note_input(Input::KeptFile, "msgget", SIMRT_PC);
  return SIMRT_REAL(msgget)(key, flags);
}

// What fortified builds call in their place.
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
SIMRT_EXPORT int __open_2(const char* path, int flags) {
  return opened(SIMRT_REAL(__open_2)(path, flags), AT_FDCWD, path, access_of(flags), SIMRT_PC);
}
SIMRT_EXPORT int __open64_2(const char* path, int flags) {
  return opened(SIMRT_REAL(__open64_2)(path, flags), AT_FDCWD, path, access_of(flags), SIMRT_PC);
}
SIMRT_EXPORT int __openat_2(int directory, const char* path, int flags) {
  return opened(SIMRT_REAL(__openat_2)(directory, path, flags), directory, path, access_of(flags), SIMRT_PC);
}
SIMRT_EXPORT int __openat64_2(int directory, const char* path, int flags) {
  return opened(SIMRT_REAL(__openat64_2)(directory, path, flags), directory, path, access_of(flags),
                SIMRT_PC);
}
}
