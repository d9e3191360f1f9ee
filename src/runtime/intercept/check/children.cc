// What outlives the rules of this process: programs started by it, and threads that libc starts for itself
// with all signals blocked. They have the real time stamp counter.
#include <aio.h>
#include <mqueue.h>
#include <netdb.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include "intercept/check/call.h"
#include "intercept/check/inputs.h"
#include "intercept/check/own_descriptors.h"
#include "intercept/check/time_stamp.h"
#include "intercept/real.h"

namespace simrt::rt {
namespace {

template <class Call>
auto with_real_time_stamps(Call call) {
  const RealTimeStamps real;
  return call();
}

// File actions give the new program what close-on-exec would keep from it.
void give_to_spawned(const posix_spawn_file_actions_t* actions) {
  descriptors_inherited_by(actions != nullptr ? Heir::Fork : Heir::Program);
}

// execl and its like: the arguments of the call, as an array on the stack of the caller.
size_t count_arguments(va_list list) {
  size_t count = 1;
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

// Sets `arguments`, and leaves `list` behind their end.
#define SIMRT_COLLECT_ARGUMENTS(first)                                                   \
  va_list list;                                                                          \
  va_start(list, first);                                                                 \
  const size_t count = count_arguments(list);                                            \
  va_end(list);                                                                          \
  auto** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  arguments[0] = const_cast<char*>(first);                                               \
  va_start(list, first);                                                                 \
  for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(list, char*)

extern "C" {

SIMRT_EXPORT int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(execve)(path, arguments, environment); });
}
SIMRT_EXPORT int execv(const char* path, char* const* arguments) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(execv)(path, arguments); });
}
SIMRT_EXPORT int execvp(const char* file, char* const* arguments) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(execvp)(file, arguments); });
}
SIMRT_EXPORT int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(execvpe)(file, arguments, environment); });
}
SIMRT_EXPORT int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(fexecve)(fd, arguments, environment); });
}
SIMRT_EXPORT int execveat(int fd, const char* path, char* const* arguments, char* const* environment,
                          int flags) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(execveat)(fd, path, arguments, environment, flags); });
}
SIMRT_EXPORT int execl(const char* path, const char* argument, ...) noexcept {
  SIMRT_COLLECT_ARGUMENTS(argument);
  va_end(list);
  return execv(path, arguments);
}
SIMRT_EXPORT int execlp(const char* file, const char* argument, ...) noexcept {
  SIMRT_COLLECT_ARGUMENTS(argument);
  va_end(list);
  return execvp(file, arguments);
}
SIMRT_EXPORT int execle(const char* path, const char* argument, ...) noexcept {
  SIMRT_COLLECT_ARGUMENTS(argument);
  char** environment = va_arg(list, char**);
  va_end(list);
  return execve(path, arguments, environment);
}

SIMRT_EXPORT int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const* arguments,
                             char* const* environment) {
  give_to_spawned(actions);
  return with_real_time_stamps(
      [&] { return SIMRT_REAL(posix_spawn)(child, path, actions, attributes, arguments, environment); });
}
SIMRT_EXPORT int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const* arguments,
                              char* const* environment) {
  give_to_spawned(actions);
  return with_real_time_stamps(
      [&] { return SIMRT_REAL(posix_spawnp)(child, file, actions, attributes, arguments, environment); });
}
SIMRT_EXPORT FILE* popen(const char* command, const char* type) {
  note_input(Input::OtherProcess, "popen", SIMRT_PC);
  descriptors_inherited_by(Heir::Program);
  return with_real_time_stamps([&] { return SIMRT_REAL(popen)(command, type); });
}
SIMRT_EXPORT int wordexp(const char* words, wordexp_t* expanded, int flags) {
  descriptors_inherited_by(Heir::Program);
  return with_real_time_stamps([&] { return SIMRT_REAL(wordexp)(words, expanded, flags); });
}

SIMRT_EXPORT int timer_create(clockid_t clock, struct sigevent* event, timer_t* timer) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(timer_create)(clock, event, timer); });
}
SIMRT_EXPORT int mq_notify(mqd_t queue, const struct sigevent* event) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(mq_notify)(queue, event); });
}
SIMRT_EXPORT int getaddrinfo_a(int mode, struct gaicb** list, int count, struct sigevent* event) {
  return with_real_time_stamps([&] { return SIMRT_REAL(getaddrinfo_a)(mode, list, count, event); });
}
SIMRT_EXPORT int aio_read(struct aiocb* request) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(aio_read)(request); });
}
SIMRT_EXPORT int aio_write(struct aiocb* request) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(aio_write)(request); });
}
SIMRT_EXPORT int aio_fsync(int operation, struct aiocb* request) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(aio_fsync)(operation, request); });
}
SIMRT_EXPORT int lio_listio(int mode, struct aiocb* const* list, int count, struct sigevent* event) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(lio_listio)(mode, list, count, event); });
}
SIMRT_EXPORT int aio_read64(struct aiocb64* request) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(aio_read64)(request); });
}
SIMRT_EXPORT int aio_write64(struct aiocb64* request) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(aio_write64)(request); });
}
SIMRT_EXPORT int aio_fsync64(int operation, struct aiocb64* request) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(aio_fsync64)(operation, request); });
}
SIMRT_EXPORT int lio_listio64(int mode, struct aiocb64* const* list, int count,
                              struct sigevent* event) noexcept {
  return with_real_time_stamps([&] { return SIMRT_REAL(lio_listio64)(mode, list, count, event); });
}
}
