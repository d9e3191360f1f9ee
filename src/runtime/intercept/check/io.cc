// Calls that wait for a descriptor. While it is not ready the thread waits in the engine, and others go on;
// once it is, the real call does not block, so nothing happens without the token. Where only threads of this
// process feed the descriptor, the schedule stays deterministic.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "intercept/check/call.h"
#include "intercept/check/deadline.h"
#include "intercept/check/descriptors.h"
#include "intercept/check/inputs.h"
#include "intercept/check/own_descriptors.h"
#include "intercept/check/segv.h"
#include "intercept/check/socket_reach.h"

namespace simrt::rt {
namespace {

using format::EventKind;

Outcome await_descriptors(struct pollfd* polls, uint32_t count, uint64_t deadline, uintptr_t pc) {
  Wait wait;
  wait.until = Until::Descriptors;
  wait.polls = polls;
  wait.poll_count = count;
  wait.deadline = deadline;
  wait.cancellable = true;
  return engine.await({EventKind::External, 0, 0, count > 0 ? static_cast<uintptr_t>(polls[0].fd) : 0, pc},
                      wait);
}

bool blocks(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

// A socket may have a time limit of its own.
uint64_t deadline_of_socket(int fd, short events) {
  const int error = errno;
  struct timeval limit = {};
  socklen_t size = sizeof limit;
  const int name = events == POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO;
  const bool known = getsockopt(fd, SOL_SOCKET, name, &limit, &size) == 0;
  errno = error;
  if (!known || (limit.tv_sec == 0 && limit.tv_usec == 0)) return Wait::kForever;
  return deadline_in(static_cast<uint64_t>(limit.tv_sec) * static_cast<uint64_t>(kNanosecondsPerSecond) +
                     static_cast<uint64_t>(limit.tv_usec) * 1000u);
}

// A call that sends something.
template <class Real>
auto arriving(int fd, Real real) {
  if (!controlled()) return real();
  const Arrival arrival(fd);
  return real();
}

template <class Real>
auto when_ready(int fd, short events, bool may_block, uintptr_t pc, Real real) {
  if (modelled_thread() != nullptr) {
    if (may_block && blocks(fd)) {
      struct pollfd one = {fd, events, 0};
      const uint64_t deadline = deadline_of_socket(fd, events);
      if (await_descriptors(&one, 1, deadline, pc) == Outcome::TimedOut) {
        errno = EAGAIN;
        return decltype(real())(-1);
      }
    } else {
      engine.step({EventKind::External, 0, 0, static_cast<uintptr_t>(fd), pc});
    }
  }
  if (events == POLLOUT) descriptor_written(fd);
  const auto result = events == POLLOUT ? arriving(fd, real) : real();
  if (events == POLLIN && result >= 0) descriptor_read(fd);
  if (events == POLLIN && result > 0 && modelled_thread() != nullptr) note_read(fd, pc);
  if (controlled()) engine.io_happened();
  return result;
}

int accepted(int fd) {
  if (fd >= 0 && controlled()) own_descriptors.made(fd, OwnKind::Socket);
  return fd;
}

void sending(const struct msghdr& message) {
  if (controlled() && own_descriptors.sent(message)) engine.descriptors_changed();
}

ssize_t received(ssize_t result, const struct msghdr* message) {
  if (result >= 0 && controlled() && own_descriptors.received(*message)) engine.descriptors_changed();
  return result;
}

// Connects a blocking socket without blocking, so that the engine knows when it may go on. False: it cannot
// be done so, and nothing has happened.
template <class Real>
bool connect_in_turn(int fd, uintptr_t pc, Real real, int& result) {
  engine.step({EventKind::External, 0, 0, static_cast<uintptr_t>(fd), pc});
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return false;
  result = arriving(fd, real);
  int error = errno;
  fcntl(fd, F_SETFL, flags);
  if (result == 0) return true;
  if (error == EAGAIN) return false;  // a Unix socket whose listener has no room
  if (error == EINPROGRESS) {
    struct pollfd one = {fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (await_descriptors(&one, 1, deadline_of_socket(fd, POLLOUT), pc) == Outcome::Done &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
      result = 0;
  }
  errno = error;
  return true;
}

// What a call that waits for descriptors has returned.
int found_ready(int count) {
  if (count > 0) descriptors_ready();
  return count;
}

uint64_t deadline_of_milliseconds(int timeout) {
  return timeout < 0 ? Wait::kForever : deadline_in(static_cast<uint64_t>(timeout) * 1'000'000u);
}

uint64_t deadline_of(const struct timespec* timeout) {
  return timeout == nullptr ? Wait::kForever : deadline_in(nanoseconds(*timeout));
}

int wait_in_poll(struct pollfd* polls, nfds_t count, int timeout, uintptr_t pc) {
  if (modelled_thread() == nullptr || timeout == 0)
    return found_ready(SIMRT_REAL(poll)(polls, count, timeout));
  await_descriptors(polls, static_cast<uint32_t>(count), deadline_of_milliseconds(timeout), pc);
  return found_ready(SIMRT_REAL(poll)(polls, count, 0));
}

int wait_in_ppoll(struct pollfd* polls, nfds_t count, const struct timespec* timeout, const sigset_t* mask,
                  uintptr_t pc) {
  const KernelMask kernel(mask);
  if (modelled_thread() == nullptr)
    return found_ready(SIMRT_REAL(ppoll)(polls, count, timeout, kernel.get()));
  await_descriptors(polls, static_cast<uint32_t>(count), deadline_of(timeout), pc);
  const struct timespec none = {};
  return found_ready(SIMRT_REAL(ppoll)(polls, count, &none, kernel.get()));
}

bool has(const fd_set* set, int fd) { return set != nullptr && FD_ISSET(fd, set); }

uint32_t to_polls(int count, const fd_set* read, const fd_set* write, const fd_set* error,
                  struct pollfd* out) {
  uint32_t n = 0;
  for (int fd = 0; fd < count && fd < FD_SETSIZE; ++fd) {
    short events = 0;
    if (has(read, fd)) events |= POLLIN;
    if (has(write, fd)) events |= POLLOUT;
    if (has(error, fd)) events |= POLLPRI;
    if (events != 0) out[n++] = {fd, events, 0};
  }
  return n;
}

void await_sets(int count, const fd_set* read, const fd_set* write, const fd_set* error, uint64_t deadline,
                uintptr_t pc) {
  struct pollfd polls[FD_SETSIZE];
  await_descriptors(polls, to_polls(count, read, write, error, polls), deadline, pc);
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" {

SIMRT_EXPORT ssize_t read(int fd, void* buffer, size_t bytes) {
  return when_ready(fd, POLLIN, true, SIMRT_PC, [&] { return SIMRT_REAL(read)(fd, buffer, bytes); });
}
SIMRT_EXPORT ssize_t readv(int fd, const struct iovec* parts, int count) {
  return when_ready(fd, POLLIN, true, SIMRT_PC, [&] { return SIMRT_REAL(readv)(fd, parts, count); });
}
SIMRT_EXPORT ssize_t write(int fd, const void* buffer, size_t bytes) {
  return when_ready(fd, POLLOUT, true, SIMRT_PC, [&] { return SIMRT_REAL(write)(fd, buffer, bytes); });
}
SIMRT_EXPORT ssize_t writev(int fd, const struct iovec* parts, int count) {
  return when_ready(fd, POLLOUT, true, SIMRT_PC, [&] { return SIMRT_REAL(writev)(fd, parts, count); });
}
SIMRT_EXPORT ssize_t recv(int fd, void* buffer, size_t bytes, int flags) {
  return when_ready(fd, POLLIN, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(recv)(fd, buffer, bytes, flags); });
}
SIMRT_EXPORT ssize_t recvfrom(int fd, void* buffer, size_t bytes, int flags, struct sockaddr* from,
                              socklen_t* length) {
  return when_ready(fd, POLLIN, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(recvfrom)(fd, buffer, bytes, flags, from, length); });
}
SIMRT_EXPORT ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  return when_ready(fd, POLLIN, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return received(SIMRT_REAL(recvmsg)(fd, message, flags), message); });
}
SIMRT_EXPORT ssize_t send(int fd, const void* buffer, size_t bytes, int flags) {
  return when_ready(fd, POLLOUT, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(send)(fd, buffer, bytes, flags); });
}
SIMRT_EXPORT ssize_t sendto(int fd, const void* buffer, size_t bytes, int flags, const struct sockaddr* to,
                            socklen_t length) {
  return when_ready(fd, POLLOUT, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(sendto)(fd, buffer, bytes, flags, to, length); });
}
SIMRT_EXPORT ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  sending(*message);
  return when_ready(fd, POLLOUT, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(sendmsg)(fd, message, flags); });
}
SIMRT_EXPORT int recvmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags,
                          struct timespec* timeout) {
  return when_ready(fd, POLLIN, (flags & MSG_DONTWAIT) == 0, SIMRT_PC, [&] {
    // The first one is there; for more of them nobody waits without the token.
    const int result = SIMRT_REAL(recvmmsg)(fd, messages, count, flags | MSG_WAITFORONE, timeout);
    for (int i = 0; i < result; ++i) received(result, &messages[i].msg_hdr);
    return result;
  });
}
SIMRT_EXPORT int sendmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags) {
  for (unsigned i = 0; i < count; ++i) sending(messages[i].msg_hdr);
  return when_ready(fd, POLLOUT, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(sendmmsg)(fd, messages, count, flags); });
}
SIMRT_EXPORT int eventfd_read(int fd, eventfd_t* value) {
  return when_ready(fd, POLLIN, true, SIMRT_PC, [&] { return SIMRT_REAL(eventfd_read)(fd, value); });
}
SIMRT_EXPORT int eventfd_write(int fd, eventfd_t value) {
  return when_ready(fd, POLLOUT, true, SIMRT_PC, [&] { return SIMRT_REAL(eventfd_write)(fd, value); });
}
SIMRT_EXPORT int accept(int fd, struct sockaddr* address, socklen_t* length) {
  return when_ready(fd, POLLIN, true, SIMRT_PC,
                    [&] { return accepted(SIMRT_REAL(accept)(fd, address, length)); });
}
SIMRT_EXPORT int accept4(int fd, struct sockaddr* address, socklen_t* length, int flags) {
  return when_ready(fd, POLLIN, true, SIMRT_PC,
                    [&] { return accepted(SIMRT_REAL(accept4)(fd, address, length, flags)); });
}
SIMRT_EXPORT int connect(int fd, const struct sockaddr* address, socklen_t length) {
  descriptor_written(fd);
  const auto real = [&] { return SIMRT_REAL(connect)(fd, address, length); };
  control::Thread* self = modelled_thread();
  if (self == nullptr) return real();
  int result = 0;
  if (!blocks(fd)) {
    result = arriving(fd, real);
  } else if (!own_descriptors.is_socket(fd) || !connect_in_turn(fd, SIMRT_PC, real, result)) {
    result = outside(self, SIMRT_PC, real);
  }
  engine.descriptors_changed();
  return result;
}
SIMRT_EXPORT int close(int fd) {
  descriptor_written(fd);
  const int result = arriving(fd, [&] {
    if (controlled()) own_descriptors.closed(fd);
    return SIMRT_REAL(close)(fd);
  });
  if (controlled()) engine.descriptors_changed();
  return result;
}
SIMRT_EXPORT int shutdown(int fd, int how) noexcept {
  descriptor_written(fd);
  const int result = arriving(fd, [&] { return SIMRT_REAL(shutdown)(fd, how); });
  if (controlled()) engine.io_happened();
  return result;
}

SIMRT_EXPORT int poll(struct pollfd* polls, nfds_t count, int timeout) {
  return wait_in_poll(polls, count, timeout, SIMRT_PC);
}
SIMRT_EXPORT int ppoll(struct pollfd* polls, nfds_t count, const struct timespec* timeout,
                       const sigset_t* mask) {
  return wait_in_ppoll(polls, count, timeout, mask, SIMRT_PC);
}
SIMRT_EXPORT int select(int count, fd_set* read, fd_set* write, fd_set* error, struct timeval* timeout) {
  if (modelled_thread() == nullptr)
    return found_ready(SIMRT_REAL(select)(count, read, write, error, timeout));
  uint64_t deadline = Wait::kForever;
  if (timeout != nullptr) {
    deadline =
        deadline_in(static_cast<uint64_t>(timeout->tv_sec) * static_cast<uint64_t>(kNanosecondsPerSecond) +
                    static_cast<uint64_t>(timeout->tv_usec) * 1000u);
  }
  await_sets(count, read, write, error, deadline, SIMRT_PC);
  struct timeval none = {};
  return found_ready(SIMRT_REAL(select)(count, read, write, error, &none));
}
SIMRT_EXPORT int pselect(int count, fd_set* read, fd_set* write, fd_set* error,
                         const struct timespec* timeout, const sigset_t* mask) {
  const KernelMask kernel(mask);
  if (modelled_thread() == nullptr)
    return found_ready(SIMRT_REAL(pselect)(count, read, write, error, timeout, kernel.get()));
  await_sets(count, read, write, error, deadline_of(timeout), SIMRT_PC);
  const struct timespec none = {};
  return found_ready(SIMRT_REAL(pselect)(count, read, write, error, &none, kernel.get()));
}
SIMRT_EXPORT int epoll_wait(int epoll, struct epoll_event* events, int count, int timeout) {
  if (modelled_thread() == nullptr || timeout == 0)
    return found_ready(SIMRT_REAL(epoll_wait)(epoll, events, count, timeout));
  struct pollfd one = {epoll, POLLIN, 0};
  await_descriptors(&one, 1, deadline_of_milliseconds(timeout), SIMRT_PC);
  return found_ready(SIMRT_REAL(epoll_wait)(epoll, events, count, 0));
}
SIMRT_EXPORT int epoll_pwait(int epoll, struct epoll_event* events, int count, int timeout,
                             const sigset_t* mask) {
  const KernelMask kernel(mask);
  if (modelled_thread() == nullptr || timeout == 0)
    return found_ready(SIMRT_REAL(epoll_pwait)(epoll, events, count, timeout, kernel.get()));
  struct pollfd one = {epoll, POLLIN, 0};
  await_descriptors(&one, 1, deadline_of_milliseconds(timeout), SIMRT_PC);
  return found_ready(SIMRT_REAL(epoll_pwait)(epoll, events, count, 0, kernel.get()));
}

// What fortified builds call in their place.
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, struct sockaddr*, socklen_t*);
int __poll_chk(struct pollfd*, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t);
SIMRT_EXPORT ssize_t __read_chk(int fd, void* buffer, size_t bytes, size_t room) {
  return when_ready(fd, POLLIN, true, SIMRT_PC,
                    [&] { return SIMRT_REAL(__read_chk)(fd, buffer, bytes, room); });
}
SIMRT_EXPORT ssize_t __recv_chk(int fd, void* buffer, size_t bytes, size_t room, int flags) {
  return when_ready(fd, POLLIN, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(__recv_chk)(fd, buffer, bytes, room, flags); });
}
SIMRT_EXPORT ssize_t __recvfrom_chk(int fd, void* buffer, size_t bytes, size_t room, int flags,
                                    struct sockaddr* from, socklen_t* length) {
  return when_ready(fd, POLLIN, (flags & MSG_DONTWAIT) == 0, SIMRT_PC,
                    [&] { return SIMRT_REAL(__recvfrom_chk)(fd, buffer, bytes, room, flags, from, length); });
}
SIMRT_EXPORT int __poll_chk(struct pollfd* polls, nfds_t count, int timeout, size_t room) {
  if (room / sizeof *polls < count) return SIMRT_REAL(__poll_chk)(polls, count, timeout, room);
  return wait_in_poll(polls, count, timeout, SIMRT_PC);
}
SIMRT_EXPORT int __ppoll_chk(struct pollfd* polls, nfds_t count, const struct timespec* timeout,
                             const sigset_t* mask, size_t room) {
  if (room / sizeof *polls < count) return SIMRT_REAL(__ppoll_chk)(polls, count, timeout, mask, room);
  return wait_in_ppoll(polls, count, timeout, mask, SIMRT_PC);
}
}
