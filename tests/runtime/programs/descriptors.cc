// Threads that wait for descriptors; argv[1] selects. "...Within": nobody outside can end the waits, so that
// virtual time goes on at once, or nobody can go on at all; "...Outside": somebody else can, who needs real
// time for it. Exit status 0: what had to come came.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cases.h"
using namespace std::chrono_literals;

extern char** environ;

namespace {

int polled(int fd, int milliseconds, short events = POLLIN) {
  struct pollfd one = {fd, events, 0};
  return poll(&one, 1, milliseconds);
}

// Nobody sees it.
__attribute__((no_sanitize("thread"))) long system_call(long number, long a, long b = 0, long c = 0,
                                                        long d = 0, long e = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number, a, b, c, d, e);
#endif
}

// In real time.
__attribute__((no_sanitize("thread"))) void really_sleep(long milliseconds) {
  struct timespec span = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  system_call(SYS_nanosleep, reinterpret_cast<long>(&span));
}

struct Loopback {
  int listener, client, server;
  explicit Loopback(int domain = AF_INET, bool accepts = true) {
    listener = socket(domain, SOCK_STREAM, 0);
    struct sockaddr_storage name = {};
    socklen_t size = domain == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    name.ss_family = static_cast<sa_family_t>(domain);
    if (domain == AF_INET) {
      reinterpret_cast<sockaddr_in&>(name).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
      reinterpret_cast<sockaddr_in6&>(name).sin6_addr = in6addr_loopback;
    }
    auto* address = reinterpret_cast<sockaddr*>(&name);
    if (bind(listener, address, size) != 0 || listen(listener, 8) != 0) _exit(77);
    getsockname(listener, address, &size);
    client = socket(domain, SOCK_STREAM, 0);
    if (connect(client, address, size) != 0) _exit(77);
    server = accepts ? accept(listener, nullptr, nullptr) : -1;
  }
};

struct UnixName {  // abstract
  struct sockaddr_un name = {};
  socklen_t size;
  UnixName() {
    name.sun_family = AF_UNIX;
    // As long for every process, and written by libc: an execution must not go another way for its number.
    const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "simrt-test-%010d",
                                     static_cast<int>(getpgrp()));
    size = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + 1 + static_cast<unsigned>(length));
  }
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&name); }
};

// Beside somebody who sleeps: `rounds` waits of two seconds each that nothing ends.
int wait_in_vain(int fd, int rounds = 20) {
  std::atomic<bool> over{false};
  std::thread sleeper([&] {
    while (!over) std::this_thread::sleep_for(300ms);
  });
  int result = 0;
  for (int i = 0; i < rounds; ++i)
    if (polled(fd, 2000) != 0) result = 1;
  over = true;
  sleeper.join();
  return result;
}

/// One byte with room for a descriptor beside it.
struct DescriptorMessage {
  char byte = 'x';
  struct iovec part = {&byte, 1};
  alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  struct msghdr header = {};

  DescriptorMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;
};

int send_descriptor(int through, int fd) {
  DescriptorMessage message;
  struct cmsghdr* header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return sendmsg(through, &message.header, 0) == 1 ? 0 : -1;
}

int receive_descriptor(int through) {
  DescriptorMessage message;
  if (recvmsg(through, &message.header, 0) != 1) return -1;
  int fd = -1;
  if (const struct cmsghdr* header = CMSG_FIRSTHDR(&message.header); header != nullptr)
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

// A process that does something in a while, and dies.
template <class Action>
pid_t child_that(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    really_sleep(100);
    action();
    _exit(0);
  }
  return child;
}

int ended(pid_t child, int result) {
  int status = 0;
  waitpid(child, &status, 0);
  return result;
}

}  // namespace

CASE(counterWithin) { return wait_in_vain(eventfd(0, 0)); }
CASE(pipeWithin) {
  int p[2];
  if (pipe(p) != 0) return 77;
  return wait_in_vain(p[0]);
}
CASE(pairWithin) {
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) return 77;
  return wait_in_vain(s[0]);
}
CASE(copyWithin) {
  int p[2];
  if (pipe2(p, O_CLOEXEC) != 0) return 77;
  const int a = dup(p[0]), b = fcntl(p[0], F_DUPFD_CLOEXEC, 100), c = dup2(p[0], 200);
  close(p[0]);
  return wait_in_vain(a, 3) + wait_in_vain(b, 3) + wait_in_vain(c, 3);
}
CASE(epollWithin) {
  const int outer = epoll_create1(0), inner = epoll_create1(0), counter = eventfd(0, 0);
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) return 77;
  struct epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(inner, EPOLL_CTL_ADD, counter, &event);
  epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event);
  epoll_ctl(outer, EPOLL_CTL_ADD, s[0], &event);
  std::thread sleeper([] { std::this_thread::sleep_for(3s); });
  int result = 0;
  for (int i = 0; i < 20; ++i) result |= epoll_wait(outer, &event, 1, 2000);
  sleeper.join();
  return result;
}
CASE(selectWithin) {
  int p[2];
  if (pipe(p) != 0) return 77;
  int result = 0;
  for (int i = 0; i < 20; ++i) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    struct timeval limit = {2, 0};
    result |= select(p[0] + 1, &set, nullptr, nullptr, &limit);
  }
  return result;
}
CASE(tcpWithin) {
  const Loopback four, six(AF_INET6);
  return wait_in_vain(four.server) + wait_in_vain(four.client) + wait_in_vain(six.server);
}
CASE(listenersWithin) {
  const Loopback waiting(AF_INET, false), all;
  UnixName name;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, name.address(), name.size) != 0 || listen(listener, 4) != 0) return 77;
  if (wait_in_vain(listener) + wait_in_vain(all.listener) + wait_in_vain(waiting.client) != 0) return 1;
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(client, name.address(), name.size) != 0) return 77;
  if (wait_in_vain(client) != 0) return 2;
  const int server = accept(listener, nullptr, nullptr);
  return wait_in_vain(client) + wait_in_vain(server);
}
CASE(receiveLimitWithin) {
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) return 77;
  const struct timeval limit = {30, 0};
  setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  const ssize_t result = recv(s[0], &byte, 1, 0);
  return result == -1 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : 1;
}
CASE(unarmedTimerWithin) { return wait_in_vain(timerfd_create(CLOCK_MONOTONIC, 0)); }
CASE(goneChildWithin) {  // before there was anything to have
  ended(child_that([] {}), 0);
  return wait_in_vain(eventfd(0, 0));
}
CASE(defaultAlarmWithin) {  // it ends the process, and makes nothing ready
  alarm(1000);
  return wait_in_vain(eventfd(0, 0));
}

// A message goes around between two threads with time-outs beside it; what is sent comes, whatever the time.
template <class Ends>
static int ping_pong(const Ends& here, const Ends& there) {
  constexpr int kRounds = 300;
  std::atomic<int> late{0};
  std::thread other([&] {
    char bytes[512];
    for (int i = 0; i < kRounds; ++i) {
      if (polled(there, 50) != 1) ++late;
      if (read(there, bytes, sizeof bytes) <= 0) abort();
      if (write(there, bytes, 1) != 1) abort();
    }
  });
  char bytes[512] = {};
  for (int i = 0; i < kRounds; ++i) {
    if (write(here, bytes, sizeof bytes) != sizeof bytes) abort();
    if (polled(here, 50) != 1) ++late;
    if (read(here, bytes, sizeof bytes) <= 0) abort();
  }
  other.join();
  return late == 0 ? 0 : 1;
}
CASE(tcpArrives) {
  const Loopback ends;
  return ping_pong(ends.client, ends.server);
}
CASE(tcpDelayed) {  // the second write waits for the first one's acknowledgement, which comes late
  const Loopback ends;
  char byte;
  for (int i = 0; i < 20; ++i) {
    const int no = 0;
    setsockopt(ends.server, IPPROTO_TCP, TCP_QUICKACK, &no, sizeof no);
    for (int part = 0; part < 2; ++part) {
      if (write(ends.client, "x", 1) != 1) return 77;
      if (polled(ends.server, 1000) != 1) return 1;
      if (read(ends.server, &byte, 1) != 1) return 77;
    }
  }
  return 0;
}
CASE(tcpCloseArrives) {
  for (int i = 0; i < 50; ++i) {
    const Loopback ends;
    std::thread other([&] { close(ends.server); });
    const int result = polled(ends.client, 50);
    other.join();
    close(ends.client);
    close(ends.listener);
    if (result != 1) return 1;
  }
  return 0;
}

CASE(connectsInTurn) {  // blocking, from two threads
  const Loopback ends;
  UnixName name;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, name.address(), name.size) != 0 || listen(listener, 4) != 0) return 77;
  std::atomic<int> connected{0};
  const auto connects = [&] {
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(client, name.address(), name.size) == 0) ++connected;
    char byte = 0;
    if (recv(client, &byte, 1, 0) != 1 || byte != 'x') abort();
    const Loopback other;
    if ((fcntl(other.client, F_GETFL) & O_NONBLOCK) == 0) ++connected;
  };
  std::thread first(connects), second(connects);
  for (int i = 0; i < 2; ++i)
    if (send(accept(listener, nullptr, nullptr), "x", 1, 0) != 1) abort();
  first.join();
  second.join();
  const int nobody = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in closed = {};
  socklen_t size = sizeof closed;
  getsockname(ends.listener, reinterpret_cast<sockaddr*>(&closed), &size);
  close(ends.listener);
  if (connect(nobody, reinterpret_cast<sockaddr*>(&closed), size) == 0 || errno != ECONNREFUSED) return 1;
  return connected == 4 ? 0 : 2;
}
CASE(portsAscend) {
  int last = 0;
  for (int i = 0; i < 12; ++i) {
    const int fd = socket(AF_INET, i % 3 == 0 ? SOCK_DGRAM : SOCK_STREAM, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in name = {};
    socklen_t size = sizeof name;
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, reinterpret_cast<sockaddr*>(&name), size) != 0) return 77;
    getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
    int reuses = 0;
    size = sizeof reuses;
    getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuses, &size);
    if (ntohs(name.sin_port) <= last || reuses == 0) return 1;
    last = ntohs(name.sin_port);
  }
  return 0;
}
CASE(otherCalls) {  // that read and write
  const int counter = eventfd(0, 0);
  int s[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s) != 0) return 77;
  std::thread other([&] {
    std::this_thread::sleep_for(1s);
    if (eventfd_write(counter, 3) != 0) abort();
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct mmsghdr messages[2] = {};
    for (auto& message : messages) {
      message.msg_hdr.msg_iov = &part;
      message.msg_hdr.msg_iovlen = 1;
    }
    if (sendmmsg(s[1], messages, 2, 0) != 2) abort();
  });
  eventfd_t value = 0;
  if (eventfd_read(counter, &value) != 0 || value != 3) return 1;
  char bytes[2];
  struct iovec parts[2] = {{&bytes[0], 1}, {&bytes[1], 1}};
  struct mmsghdr messages[2] = {};
  for (int i = 0; i < 2; ++i) {
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  int got = 0;
  while (got < 2) {
    const int more = recvmmsg(s[0], messages, static_cast<unsigned>(2 - got), 0, nullptr);
    if (more < 1) return 2;
    got += more;
  }
  other.join();
  return 0;
}
CASE(epollGrows) {  // while another thread waits
  const int epoll = epoll_create1(0), ready = eventfd(1, 0), silent = eventfd(0, 0);
  struct epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(epoll, EPOLL_CTL_ADD, silent, &event);
  std::atomic<int> found{0};
  std::thread waiter([&] {
    struct epoll_event one;
    found = epoll_wait(epoll, &one, 1, 60'000);
  });
  for (int i = 0; i < 3000; ++i) found.load();
  epoll_ctl(epoll, EPOLL_CTL_ADD, ready, &event);
  waiter.join();
  return found == 1 ? 0 : 1;
}
CASE(unseenWrite) {  // beside a thread that never stops
  static int p[2];
  if (pipe(p) != 0) return 77;
  std::atomic<bool> over{false};
  std::thread waiter([&] {
    if (polled(p[0], -1) == 1) over = true;
  });
  for (int i = 0; i < 3000; ++i) over.load();
  system_call(SYS_write, p[1], reinterpret_cast<long>("x"), 1);
  while (!over) over.load();
  waiter.join();
  return 0;
}

CASE(pipeForEver) {
  int p[2], q[2];
  if (pipe(p) != 0 || pipe(q) != 0) return 77;
  char byte = 0;
  std::thread other([&] { polled(q[0], -1); });
  std::thread reader([&] {
    if (read(p[0], &byte, 1) == 1) byte = 1;
  });
  other.join();
  reader.join();
  return 0;
}
CASE(epollForEver) {
  const int epoll = epoll_create1(0), counter = eventfd(0, 0);
  struct epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event);
  epoll_wait(epoll, &event, 1, -1);
  return 0;
}
CASE(tcpForEver) {
  const Loopback ends;
  std::thread other([&] { polled(ends.server, -1); });
  char byte;
  recv(ends.client, &byte, 1, 0);
  other.join();
  return 0;
}

CASE(childWrites) {
  int p[2];
  if (pipe(p) != 0) return 77;
  const pid_t child = child_that([&] {
    if (write(p[1], "x", 1) != 1) abort();
  });
  return ended(child, polled(p[0], 5000) == 1 ? 0 : 1);
}
CASE(childCounts) {
  const int counter = eventfd(0, 0), epoll = epoll_create1(0);
  struct epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event);
  const std::uint64_t one = 1;
  const pid_t child = child_that([&] {
    if (write(counter, &one, sizeof one) != sizeof one) abort();
  });
  return ended(child, epoll_wait(epoll, &event, 1, 5000) == 1 ? 0 : 1);
}
CASE(childConnects) {  // to a listener that it has not inherited
  UnixName name;
  const pid_t child = child_that([&] {
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    while (connect(client, name.address(), name.size) != 0) really_sleep(10);
    really_sleep(50);
  });
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, name.address(), name.size) != 0 || listen(listener, 4) != 0) return 77;
  if (polled(listener, 5000) != 1) return ended(child, 1);
  const int server = accept(listener, nullptr, nullptr);
  return ended(child, polled(server, 5000) == 1 ? 0 : 2);
}
CASE(childSignals) {  // whose handler writes
  static int p[2];
  if (pipe(p) != 0) return 77;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (write(p[1], "x", 1) != 1) abort();
  };
  sigaction(SIGUSR1, &action, nullptr);
  const pid_t parent = getpid();
  const pid_t child = child_that([&] { kill(parent, SIGUSR1); });
  int result;
  while ((result = polled(p[0], 5000)) == -1 && errno == EINTR) {
  }
  return ended(child, result == 1 ? 0 : 1);
}
CASE(grandchildWrites) {  // nobody's child any more
  int p[2];
  if (pipe(p) != 0) return 77;
  ended(child_that([&] {
          child_that([&] {
            if (write(p[1], "x", 1) != 1) abort();
          });
        }),
        0);
  return polled(p[0], 5000) == 1 ? 0 : 1;
}
CASE(grandchildAccepts) {  // at a listener that this process has closed
  UnixName name;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, name.address(), name.size) != 0 || listen(listener, 4) != 0) return 77;
  ended(child_that([&] {
          child_that([&] {
            if (write(accept(listener, nullptr, nullptr), "x", 1) != 1) abort();
          });
        }),
        0);
  close(listener);
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(client, name.address(), name.size) != 0) return 77;
  return polled(client, 5000) == 1 ? 0 : 1;
}
CASE(spawnedWrites) {
  int p[2];
  if (pipe2(p, O_CLOEXEC) != 0) return 77;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, p[1], 1);
  const char* arguments[] = {"sh", "-c", "(sleep 0.1; echo x) &", nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "sh", &actions, nullptr, const_cast<char**>(arguments), environ) != 0) return 77;
  ended(child, 0);
  return polled(p[0], 5000) == 1 ? 0 : 1;
}
CASE(systemWrites) {
  int p[2];
  if (pipe(p) != 0) return 77;
  const std::string command = "(sleep 0.1; echo x >&" + std::to_string(p[1]) + ") &";
  if (system(command.c_str()) != 0) return 77;
  return polled(p[0], 5000) == 1 ? 0 : 1;
}
CASE(sentAway) {  // the other process has it through a socket only
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) return 77;
  const pid_t grandchild_of = fork();
  if (grandchild_of == 0) {
    if (fork() == 0) {
      const int counter = receive_descriptor(s[1]);
      really_sleep(100);
      const std::uint64_t one = 1;
      if (write(counter, &one, sizeof one) != sizeof one) abort();
    }
    _exit(0);
  }
  ended(grandchild_of, 0);
  const int counter = eventfd(0, 0);
  if (send_descriptor(s[0], counter) != 0) return 77;
  return polled(counter, 5000) == 1 ? 0 : 1;
}
CASE(received) {  // over a number that was ours
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) return 77;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      const int counter = eventfd(0, 0);
      if (send_descriptor(s[1], counter) != 0) abort();
      really_sleep(100);
      const std::uint64_t one = 1;
      if (write(counter, &one, sizeof one) != sizeof one) abort();
    }
    _exit(0);
  }
  ended(child, 0);
  close(s[1]);
  system_call(SYS_close, eventfd(0, 0));  // unseen
  const int counter = receive_descriptor(s[0]);
  return polled(counter, 5000) == 1 ? 0 : 1;
}
CASE(alarmWrites) {
  static int p[2];
  if (pipe(p) != 0) return 77;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (write(p[1], "x", 1) != 1) abort();
  };
  sigaction(SIGALRM, &action, nullptr);
  const struct itimerval soon = {{0, 0}, {0, 100'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  int result;
  while ((result = polled(p[0], 5000)) == -1 && errno == EINTR) {
  }
  return result == 1 ? 0 : 1;
}
CASE(timerRuns) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const struct itimerspec soon = {{0, 0}, {0, 100'000'000}};
  timerfd_settime(timer, 0, &soon, nullptr);
  return polled(timer, 5000) == 1 ? 0 : 1;
}
CASE(kernelCounts) {  // what it was asked to look at in the background
  const int counter = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 4, &context) != 0) {  // a kernel without it
    really_sleep(100);
    return 0;
  }
  struct iocb look = {};
  look.aio_lio_opcode = IOCB_CMD_POLL;
  look.aio_fildes = static_cast<unsigned>(timer);
  look.aio_buf = POLLIN;
  look.aio_flags = IOCB_FLAG_RESFD;
  look.aio_resfd = static_cast<unsigned>(counter);
  struct iocb* looks[] = {&look};
  if (syscall(SYS_io_submit, context, 1, looks) != 1) return 77;
  const struct itimerspec soon = {{0, 0}, {0, 100'000'000}};
  timerfd_settime(timer, 0, &soon, nullptr);
  return polled(counter, 5000) == 1 ? 0 : 1;
}
CASE(unseenThread) {  // a thread that no function of a library made
  static int p[2];
  if (pipe(p) != 0) return 77;
  alignas(16) static char stack[65536];
  const auto body = [](void*) __attribute__((no_sanitize("thread"))) {
    struct timespec span = {0, 100'000'000};
    system_call(SYS_nanosleep, reinterpret_cast<long>(&span));
    system_call(SYS_write, p[1], reinterpret_cast<long>("x"), 1);
    system_call(SYS_exit, 0);
    return 0;
  };
  clone(body, stack + sizeof stack,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, nullptr);
  return polled(p[0], 5000) == 1 ? 0 : 1;
}
CASE(inherited) { return polled(0, 5000) == 1 ? 0 : 1; }
CASE(connects) {
  UnixName name;
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  while (connect(client, name.address(), name.size) != 0) really_sleep(10);
  return 0;
}
CASE(listens) {
  UnixName name;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, name.address(), name.size) != 0 || listen(listener, 4) != 0) return 77;
  return polled(listener, 5000) == 1 ? 0 : 1;
}
