// Calls whose result the engine does not control, for inputs.h: the real ones, noted. No scheduling points.
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <unistd.h>

#include "intercept/check/call.h"
#include "intercept/check/inputs.h"
#include "sys/text.h"

using namespace simrt::rt;

#define SIMRT_NOTED(kind, name, ...)        \
  note_input(Input::kind, #name, SIMRT_PC); \
  return SIMRT_REAL(name)(__VA_ARGS__)

namespace {

bool names_temporary_directory(const char* name) {
  constexpr const char* kNames[] = {"TMPDIR", "TEST_TMPDIR"};
  for (const char* one : kNames)
    if (simrt::runtime::equal(name, one, simrt::runtime::length(one) + 1)) return true;
  return false;
}

void note_variable(const char* name, uintptr_t pc) {
  if (name != nullptr && names_temporary_directory(name)) note_input(Input::TemporaryDirectory, name, pc);
}

}  // namespace

extern "C" {

// ---- random numbers

SIMRT_EXPORT ssize_t getrandom(void* buffer, size_t bytes, unsigned flags) {
  SIMRT_NOTED(RandomNumber, getrandom, buffer, bytes, flags);
}
SIMRT_EXPORT int getentropy(void* buffer, size_t bytes) {
  SIMRT_NOTED(RandomNumber, getentropy, buffer, bytes);
}
// glibc 2.36
uint32_t arc4random() noexcept;
void arc4random_buf(void*, size_t) noexcept;
uint32_t arc4random_uniform(uint32_t) noexcept;
SIMRT_EXPORT uint32_t arc4random() noexcept {
  note_input(Input::RandomNumber, "arc4random", SIMRT_PC);
  return SIMRT_REAL(arc4random)();
}
SIMRT_EXPORT void arc4random_buf(void* buffer, size_t bytes) noexcept {
  SIMRT_NOTED(RandomNumber, arc4random_buf, buffer, bytes);
}
SIMRT_EXPORT uint32_t arc4random_uniform(uint32_t bound) noexcept {
  SIMRT_NOTED(RandomNumber, arc4random_uniform, bound);
}
// std::random_device::_M_getval and _M_getval_pretr1: libstdc++ asks the processor itself.
unsigned _ZNSt13random_device9_M_getvalEv(void*);
unsigned _ZNSt13random_device16_M_getval_pretr1Ev(void*);
SIMRT_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void* self) {
  note_input(Input::RandomNumber, "std::random_device", SIMRT_PC);
  return SIMRT_REAL(_ZNSt13random_device9_M_getvalEv)(self);
}
SIMRT_EXPORT unsigned _ZNSt13random_device16_M_getval_pretr1Ev(void* self) {
  note_input(Input::RandomNumber, "std::random_device", SIMRT_PC);
  return SIMRT_REAL(_ZNSt13random_device16_M_getval_pretr1Ev)(self);
}
SIMRT_EXPORT unsigned long getauxval(unsigned long type) noexcept {
  if (type == AT_RANDOM) note_input(Input::RandomNumber, "getauxval(AT_RANDOM)", SIMRT_PC);
  return SIMRT_REAL(getauxval)(type);
}

// ---- processes

SIMRT_EXPORT pid_t getpid() noexcept { SIMRT_NOTED(ProcessNumber, getpid); }
SIMRT_EXPORT pid_t getppid() noexcept { SIMRT_NOTED(ProcessNumber, getppid); }
SIMRT_EXPORT pid_t getpgrp() noexcept { SIMRT_NOTED(ProcessNumber, getpgrp); }
SIMRT_EXPORT pid_t gettid() noexcept { SIMRT_NOTED(ProcessNumber, gettid); }

// ---- what was used

SIMRT_EXPORT int getrusage(__rusage_who_t who, struct rusage* usage) noexcept {
  SIMRT_NOTED(Clock, getrusage, who, usage);
}
SIMRT_EXPORT clock_t times(struct tms* buffer) noexcept { SIMRT_NOTED(Clock, times, buffer); }

// ---- the system

SIMRT_EXPORT int sysinfo(struct sysinfo* info) noexcept { SIMRT_NOTED(SystemState, sysinfo, info); }
SIMRT_EXPORT int getloadavg(double* loads, int count) noexcept {
  SIMRT_NOTED(SystemState, getloadavg, loads, count);
}
SIMRT_EXPORT long get_avphys_pages() noexcept {
  note_input(Input::SystemState, "get_avphys_pages", SIMRT_PC);
  return SIMRT_REAL(get_avphys_pages)();
}
SIMRT_EXPORT int sched_getcpu() noexcept {
  note_input(Input::SystemState, "sched_getcpu", SIMRT_PC);
  return SIMRT_REAL(sched_getcpu)();
}
SIMRT_EXPORT int getcpu(unsigned* processor, unsigned* node) noexcept {
  SIMRT_NOTED(SystemState, getcpu, processor, node);
}

// ---- files: their times and numbers, and the order of names

SIMRT_EXPORT int stat(const char* path, struct stat* status) noexcept {
  SIMRT_NOTED(FileStatus, stat, path, status);
}
SIMRT_EXPORT int stat64(const char* path, struct stat64* status) noexcept {
  SIMRT_NOTED(FileStatus, stat64, path, status);
}
SIMRT_EXPORT int lstat(const char* path, struct stat* status) noexcept {
  SIMRT_NOTED(FileStatus, lstat, path, status);
}
SIMRT_EXPORT int lstat64(const char* path, struct stat64* status) noexcept {
  SIMRT_NOTED(FileStatus, lstat64, path, status);
}
SIMRT_EXPORT int fstat(int fd, struct stat* status) noexcept { SIMRT_NOTED(FileStatus, fstat, fd, status); }
SIMRT_EXPORT int fstat64(int fd, struct stat64* status) noexcept {
  SIMRT_NOTED(FileStatus, fstat64, fd, status);
}
SIMRT_EXPORT int fstatat(int fd, const char* path, struct stat* status, int flags) noexcept {
  SIMRT_NOTED(FileStatus, fstatat, fd, path, status, flags);
}
SIMRT_EXPORT int fstatat64(int fd, const char* path, struct stat64* status, int flags) noexcept {
  SIMRT_NOTED(FileStatus, fstatat64, fd, path, status, flags);
}
SIMRT_EXPORT int statx(int fd, const char* path, int flags, unsigned mask, struct statx* status) noexcept {
  SIMRT_NOTED(FileStatus, statx, fd, path, flags, mask, status);
}
SIMRT_EXPORT struct dirent* readdir(DIR* directory) { SIMRT_NOTED(DirectoryOrder, readdir, directory); }
SIMRT_EXPORT struct dirent64* readdir64(DIR* directory) { SIMRT_NOTED(DirectoryOrder, readdir64, directory); }

// ---- names of temporary files

SIMRT_EXPORT int mkstemp(char* name) { SIMRT_NOTED(TemporaryName, mkstemp, name); }
SIMRT_EXPORT int mkstemp64(char* name) { SIMRT_NOTED(TemporaryName, mkstemp64, name); }
SIMRT_EXPORT int mkostemp(char* name, int flags) { SIMRT_NOTED(TemporaryName, mkostemp, name, flags); }
SIMRT_EXPORT int mkostemp64(char* name, int flags) { SIMRT_NOTED(TemporaryName, mkostemp64, name, flags); }
SIMRT_EXPORT int mkstemps(char* name, int suffix) { SIMRT_NOTED(TemporaryName, mkstemps, name, suffix); }
SIMRT_EXPORT int mkstemps64(char* name, int suffix) { SIMRT_NOTED(TemporaryName, mkstemps64, name, suffix); }
SIMRT_EXPORT char* mkdtemp(char* name) noexcept { SIMRT_NOTED(TemporaryName, mkdtemp, name); }
SIMRT_EXPORT char* tmpnam(char* name) noexcept { SIMRT_NOTED(TemporaryName, tmpnam, name); }
SIMRT_EXPORT char* tempnam(const char* directory, const char* prefix) noexcept {
  SIMRT_NOTED(TemporaryName, tempnam, directory, prefix);
}
SIMRT_EXPORT char* getenv(const char* name) noexcept {
  note_variable(name, SIMRT_PC);
  return SIMRT_REAL(getenv)(name);
}
SIMRT_EXPORT char* secure_getenv(const char* name) noexcept {
  note_variable(name, SIMRT_PC);
  return SIMRT_REAL(secure_getenv)(name);
}
}
