// Calls that make, copy and give away descriptors, for own_descriptors.h. No scheduling points.
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "intercept/check/call.h"
#include "intercept/check/own_descriptors.h"

namespace simrt::rt {
namespace {

int made(int fd, OwnKind kind) {
  const int error = errno;
  if (fd >= 0 && modelled_thread() != nullptr) own_descriptors.made(fd, kind);
  errno = error;
  return fd;
}

int pair_made(int result, const int* fds, OwnKind kind) {
  if (result == 0 && modelled_thread() != nullptr) own_descriptors.pair_made(fds, kind);
  return result;
}

int copied(int from, int to) {
  const int error = errno;
  if (to >= 0 && modelled_thread() != nullptr) {
    own_descriptors.copied(from, to);
    engine.descriptors_changed();
  }
  errno = error;
  return to;
}

template <class Real>
int fcntl_with(int fd, int command, long argument, Real real) {
  const int result = real(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;
}

}  // namespace

void descriptors_inherited_by(Heir heir) {
  if (!controlled()) return;
  if (heir == Heir::Fork) {
    own_descriptors.forked();
  } else {
    own_descriptors.spawned();
  }
  engine.descriptors_changed();
}

}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT int eventfd(unsigned count, int flags) noexcept {
  return made(SIMRT_REAL(eventfd)(count, flags), OwnKind::Counter);
}
SIMRT_EXPORT int timerfd_create(int clock, int flags) noexcept {
  return made(SIMRT_REAL(timerfd_create)(clock, flags), OwnKind::Timer);
}
SIMRT_EXPORT int epoll_create(int size) noexcept {
  return made(SIMRT_REAL(epoll_create)(size), OwnKind::Epoll);
}
SIMRT_EXPORT int epoll_create1(int flags) noexcept {
  return made(SIMRT_REAL(epoll_create1)(flags), OwnKind::Epoll);
}
SIMRT_EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event* event) noexcept {
  const int result = SIMRT_REAL(epoll_ctl)(epoll, operation, fd, event);
  if (controlled()) engine.descriptors_changed();
  return result;
}
SIMRT_EXPORT int pipe(int* fds) noexcept { return pair_made(SIMRT_REAL(pipe)(fds), fds, OwnKind::Pipe); }
SIMRT_EXPORT int pipe2(int* fds, int flags) noexcept {
  return pair_made(SIMRT_REAL(pipe2)(fds, flags), fds, OwnKind::Pipe);
}
SIMRT_EXPORT int socket(int domain, int type, int protocol) noexcept {
  return made(SIMRT_REAL(socket)(domain, type, protocol), OwnKind::Socket);
}
SIMRT_EXPORT int socketpair(int domain, int type, int protocol, int* fds) noexcept {
  return pair_made(SIMRT_REAL(socketpair)(domain, type, protocol, fds), fds, OwnKind::Socket);
}

SIMRT_EXPORT int dup(int fd) noexcept { return copied(fd, SIMRT_REAL(dup)(fd)); }
SIMRT_EXPORT int dup2(int from, int to) noexcept { return copied(from, SIMRT_REAL(dup2)(from, to)); }
SIMRT_EXPORT int dup3(int from, int to, int flags) noexcept {
  return copied(from, SIMRT_REAL(dup3)(from, to, flags));
}
// Queues of work for the kernel: libaio's and liburing's functions.
int io_setup(int, void*);
int io_uring_setup(unsigned, void*);
int io_uring_queue_init(unsigned, void*, unsigned);
int io_uring_queue_init_params(unsigned, void*, void*);
SIMRT_EXPORT int io_setup(int events, void* context) {
  own_descriptors.kernel_counts();
  return SIMRT_REAL(io_setup)(events, context);
}
SIMRT_EXPORT int io_uring_setup(unsigned entries, void* parameters) {
  own_descriptors.kernel_counts();
  return SIMRT_REAL(io_uring_setup)(entries, parameters);
}
SIMRT_EXPORT int io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
  own_descriptors.kernel_counts();
  return SIMRT_REAL(io_uring_queue_init)(entries, ring, flags);
}
SIMRT_EXPORT int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
  own_descriptors.kernel_counts();
  return SIMRT_REAL(io_uring_queue_init_params)(entries, ring, parameters);
}

// The third argument is a number, a pointer or not there; a register holds it in any case.
SIMRT_EXPORT int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return fcntl_with(fd, command, argument, SIMRT_REAL(fcntl));
}
SIMRT_EXPORT int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return fcntl_with(fd, command, argument, SIMRT_REAL(fcntl64));
}

SIMRT_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  const int result = SIMRT_REAL(close_range)(first, last, flags);
  const bool closes = result == 0 && (static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) == 0;
  if (closes && controlled()) {
    own_descriptors.closed(first, last);
    engine.descriptors_changed();
  }
  return result;
}
SIMRT_EXPORT void closefrom(int first) noexcept {
  SIMRT_REAL(closefrom)(first);
  if (!controlled()) return;
  own_descriptors.closed(first < 0 ? 0 : static_cast<unsigned>(first), UINT32_MAX);
  engine.descriptors_changed();
}
}
