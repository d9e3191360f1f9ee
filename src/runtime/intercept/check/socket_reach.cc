#include "intercept/check/socket_reach.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "intercept/check/own_descriptors.h"
#include "sys/arch.h"

namespace simrt::rt {

using control::Reach;
using runtime::raw_syscall;

namespace {

constinit bool started_by_host = false;

// No other program of the test is there.
bool alone() { return started_by_host && !own_descriptors.other_processes(); }

// States of tcp_info, as the kernel numbers them (include/net/tcp_states.h).
enum TcpState : uint8_t {
  kEstablished = 1,
  kSynSent = 2,
  kSynReceived = 3,
  kFinWait1 = 4,
  kFinWait2 = 5,
  kTimeWait = 6,
  kClose = 7,
  kCloseWait = 8,
  kLastAck = 9,
  kListen = 10,
  kClosing = 11
};

template <class T>
bool option(int fd, int level, int name, T& value, size_t least = sizeof(T)) {
  socklen_t size = sizeof value;
  return raw_syscall(SYS_getsockopt, fd, level, name, reinterpret_cast<long>(&value),
                     reinterpret_cast<long>(&size)) == 0 &&
         size >= least;
}

int number_of(int fd, int name) {
  int value = -1;
  return option(fd, SOL_SOCKET, name, value) ? value : -1;
}

// An address of the internet, in the notation of IPv6.
struct Endpoint {
  uint8_t address[16] = {};
  uint16_t port = 0;

  bool is_loopback() const {
    static constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (__builtin_memcmp(address, kMapped, sizeof kMapped) == 0) return address[12] == 127;
    return starts_with_zeros(15) && address[15] == 1;
  }
  bool is_any() const {
    static constexpr uint8_t kMappedAny[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};
    return starts_with_zeros(16) || __builtin_memcmp(address, kMappedAny, sizeof kMappedAny) == 0;
  }
  bool same_host(const Endpoint& other) const {
    return __builtin_memcmp(address, other.address, sizeof address) == 0;
  }
  bool operator==(const Endpoint& other) const { return port == other.port && same_host(other); }

 private:
  bool starts_with_zeros(int count) const {
    for (int i = 0; i < count; ++i)
      if (address[i] != 0) return false;
    return true;
  }
};

// `call`: SYS_getsockname or SYS_getpeername.
bool endpoint_of(int fd, long call, Endpoint& result) {
  struct sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  if (raw_syscall(call, fd, reinterpret_cast<long>(&storage), reinterpret_cast<long>(&size)) != 0)
    return false;
  if (storage.ss_family == AF_INET) {
    const auto& name = reinterpret_cast<const struct sockaddr_in&>(storage);
    result.address[10] = result.address[11] = 0xff;
    __builtin_memcpy(result.address + 12, &name.sin_addr, 4);
    result.port = ntohs(name.sin_port);
    return true;
  }
  if (storage.ss_family != AF_INET6) return false;
  const auto& name = reinterpret_cast<const struct sockaddr_in6&>(storage);
  __builtin_memcpy(result.address, &name.sin6_addr, 16);
  result.port = ntohs(name.sin6_port);
  return true;
}

bool tcp_info_of(int fd, struct tcp_info& info) {
  info = {};
  return option(fd, IPPROTO_TCP, TCP_INFO, info,
                offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans);
}

bool is_tcp(int fd) {
  const int domain = number_of(fd, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) && number_of(fd, SO_TYPE) == SOCK_STREAM &&
         number_of(fd, SO_PROTOCOL) == IPPROTO_TCP;
}

bool is_readable(int fd) {
  struct pollfd one = {fd, POLLIN, 0};
  const struct timespec none = {};
  return raw_syscall(SYS_ppoll, reinterpret_cast<long>(&one), 1, reinterpret_cast<long>(&none), 0, 8) > 0;
}

bool has_sent_end(uint8_t state) {
  return state == kFinWait1 || state == kFinWait2 || state == kClosing || state == kLastAck ||
         state == kTimeWait;
}

bool has_seen_end(uint8_t state) {
  return state == kCloseWait || state == kClosing || state == kLastAck || state == kTimeWait ||
         state == kClose;
}

// What waits in the sender although the receiver has read everything is held back by Nagle's algorithm, up to
// 40 ms, for an acknowledgement that the receiver puts off; asked to, it sends it now.
bool has_arrived(const struct tcp_info& sender, int receiver, const struct tcp_info& at_receiver) {
  if (has_seen_end(at_receiver.tcpi_state)) return true;
  if (has_sent_end(sender.tcpi_state)) return false;
  if (sender.tcpi_notsent_bytes > 0) {
    int unread = 0;
    const int at_once = 1;
    if (raw_syscall(SYS_ioctl, receiver, FIONREAD, reinterpret_cast<long>(&unread)) == 0 && unread > 0)
      return true;
    raw_syscall(SYS_setsockopt, receiver, IPPROTO_TCP, TCP_QUICKACK, reinterpret_cast<long>(&at_once),
                sizeof at_once);
    return false;
  }
  return at_receiver.tcpi_bytes_received >= sender.tcpi_bytes_sent - sender.tcpi_bytes_retrans;
}

// The descriptor of this process that has the connection from `here` to `there` at its other end; -1 = none.
int other_end(const Endpoint& here, const Endpoint& there) {
  int found = -1;
  own_descriptors.each_socket([&](int fd) {
    Endpoint name, peer;
    if (found < 0 && endpoint_of(fd, SYS_getsockname, name) && name == there &&
        endpoint_of(fd, SYS_getpeername, peer) && peer == here &&
        own_descriptors.look(fd) == OwnKind::Socket && is_tcp(fd))
      found = fd;
  });
  return found;
}

// Whether the other end may be a connection that this process has still to accept.
bool waits_to_be_accepted(const Endpoint& there) {
  bool found = false;
  own_descriptors.each_socket([&](int fd) {
    Endpoint name;
    if (found || number_of(fd, SO_ACCEPTCONN) != 1 || !endpoint_of(fd, SYS_getsockname, name)) return;
    found = name.port == there.port && (name.is_any() || name.same_host(there)) &&
            number_of(fd, SO_REUSEPORT) == 0 && own_descriptors.look(fd) == OwnKind::Socket && is_tcp(fd) &&
            is_readable(fd);
  });
  return found;
}

// Most calls are about the same connections as before.
int known_other_end(int fd, const Endpoint& here, const Endpoint& there) {
  static int hints[OwnDescriptors::kMost];  // plus one; 0 = none
  int& hint = hints[fd];
  Endpoint name, peer;
  if (hint > 0 && endpoint_of(hint - 1, SYS_getsockname, name) && name == there &&
      endpoint_of(hint - 1, SYS_getpeername, peer) && peer == here &&
      own_descriptors.look(hint - 1) == OwnKind::Socket)
    return hint - 1;
  const int other = other_end(here, there);
  hint = other + 1;
  return other;
}

Reach reach_of_tcp(int fd) {
  struct tcp_info info;
  Endpoint here, there;
  if (!tcp_info_of(fd, info) || !endpoint_of(fd, SYS_getsockname, here)) return Reach::Outside;
  if (info.tcpi_state == kClose) return Reach::Within;
  if (info.tcpi_state == kListen)
    return alone() && (here.is_loopback() || here.is_any()) ? Reach::Within : Reach::Outside;
  if (!endpoint_of(fd, SYS_getpeername, there) && info.tcpi_state != kSynSent) return Reach::Outside;
  // The peer's name is not told before the connection stands; one to another host takes longer than what is
  // allowed for arriving.
  if (info.tcpi_state == kSynSent || info.tcpi_state == kSynReceived) return Reach::Arriving;
  if (!there.is_loopback() && !there.same_host(here)) return Reach::Outside;
  const int other = known_other_end(fd, here, there);
  if (other < 0)
    return has_seen_end(info.tcpi_state) || waits_to_be_accepted(there) ? Reach::Within : Reach::Outside;
  struct tcp_info at_other;
  if (!tcp_info_of(other, at_other)) return Reach::Outside;
  return has_arrived(info, other, at_other) && has_arrived(at_other, fd, info) ? Reach::Within
                                                                               : Reach::Arriving;
}

// Who made the other end of a pair or of a connection, the kernel remembers. Of a datagram socket it does
// not, nor of a peer in another name space of processes.
Reach reach_of_unix(int fd) {
  if (own_descriptors.sockets_are_shared()) return Reach::Outside;
  if (number_of(fd, SO_ACCEPTCONN) == 1) return alone() ? Reach::Within : Reach::Outside;
  struct ucred maker = {};
  const bool told = option(fd, SOL_SOCKET, SO_PEERCRED, maker) && maker.pid > 0;
  return told && maker.pid == raw_syscall(SYS_getpid) ? Reach::Within : Reach::Outside;
}

}  // namespace

Reach reach_of_socket(int fd) {
  if (number_of(fd, SO_DOMAIN) == AF_UNIX) return reach_of_unix(fd);
  return is_tcp(fd) ? reach_of_tcp(fd) : Reach::Outside;
}

Arrival::Arrival(int fd) : fd_(own_descriptors.is_socket(fd) && is_tcp(fd) ? fd : -1) {
  Endpoint here, there;
  if (fd_ >= 0 && endpoint_of(fd, SYS_getsockname, here) && endpoint_of(fd, SYS_getpeername, there))
    other_ = known_other_end(fd, here, there);
}

Arrival::~Arrival() {
  if (fd_ < 0) return;
  constexpr int kMostTries = 40;  // of 10 us and more; beyond that a timer of the kernel is in it
  for (int tries = 0; tries < kMostTries; ++tries) {
    const bool closed = !own_descriptors.is_socket(fd_);
    struct tcp_info info;
    if (closed ? other_ < 0 || !tcp_info_of(other_, info) || has_seen_end(info.tcpi_state)
               : reach_of_tcp(fd_) != Reach::Arriving)
      return;
    const struct timespec moment = {0, 10'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&moment), 0);
  }
}

void look_who_started_us() {
  // The host asks for it before it executes the program; a process that the program, or a script, forks does
  // not have it.
  int signal = 0;
  started_by_host = raw_syscall(SYS_prctl, PR_GET_PDEATHSIG, reinterpret_cast<long>(&signal)) == 0 &&
                    signal == SIGKILL && raw_syscall(SYS_getpgid, 0) == raw_syscall(SYS_getpid);
}

}  // namespace simrt::rt
