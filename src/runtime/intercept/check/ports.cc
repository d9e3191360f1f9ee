// Ports that the kernel would choose. It chooses at random, and programs compare names of addresses (in an
// ordered map, say): each further port is therefore the next free one above the last, so that they compare
// the same way in every execution. Their numbers still differ: others are in use each time.
#include <netinet/in.h>
#include <sys/socket.h>

#include "intercept/check/call.h"
#include "intercept/check/own_descriptors.h"

namespace simrt::rt {
namespace {

constexpr uint16_t kLastPort = 60999;  // of the range that the kernel chooses from, as it is by default
constexpr int kMostTries = 200;

uint16_t last_port = 0;  // 0 = none was chosen yet

struct Name {
  struct sockaddr_storage storage = {};
  socklen_t size = sizeof storage;

  struct sockaddr* address() { return reinterpret_cast<struct sockaddr*>(&storage); }
  // Null: an address without a port.
  in_port_t* port() {
    if (storage.ss_family == AF_INET) return &reinterpret_cast<struct sockaddr_in&>(storage).sin_port;
    if (storage.ss_family == AF_INET6) return &reinterpret_cast<struct sockaddr_in6&>(storage).sin6_port;
    return nullptr;
  }
};

// Two sockets with SO_REUSEADDR may have one port until one of them listens; the kernel does not choose such.
class WithoutReuse {
 public:
  explicit WithoutReuse(int fd) : fd_(fd) {
    socklen_t size = sizeof before_;
    const int no = 0;
    if (getsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &before_, &size) == 0 && before_ != 0)
      setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &no, sizeof no);
  }
  ~WithoutReuse() {
    if (before_ != 0) setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &before_, sizeof before_);
  }
  WithoutReuse(const WithoutReuse&) = delete;
  WithoutReuse& operator=(const WithoutReuse&) = delete;

 private:
  int fd_, before_ = 0;
};

template <class Real>
bool bind_to_next(int fd, Name& name, Real real) {
  int shared = 0;  // with SO_REUSEPORT a port that is bound already would be taken, another process' even
  socklen_t size = sizeof shared;
  if (getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &shared, &size) == 0 && shared != 0) return false;
  const WithoutReuse exclusive(fd);
  for (int tries = 0; tries < kMostTries && last_port != 0 && last_port < kLastPort; ++tries) {
    *name.port() = htons(++last_port);
    if (real(fd, name.address(), name.size) == 0) return true;
    if (errno != EADDRINUSE) return false;
  }
  return false;
}

}  // namespace
}  // namespace simrt::rt

using namespace simrt::rt;

extern "C" SIMRT_EXPORT int bind(int fd, const struct sockaddr* address, socklen_t size) noexcept {
  const auto real = SIMRT_REAL(bind);
  Name name;
  if (modelled_thread() == nullptr || !own_descriptors.is_socket(fd) || address == nullptr ||
      size > sizeof name.storage)
    return real(fd, address, size);
  __builtin_memcpy(&name.storage, address, size);
  name.size = size;
  if (name.port() == nullptr || *name.port() != 0) return real(fd, address, size);
  const int error = errno;
  if (bind_to_next(fd, name, real)) return 0;
  errno = error;
  const int result = real(fd, address, size);
  if (result == 0 && getsockname(fd, name.address(), &name.size) == 0 && name.port() != nullptr)
    last_port = ntohs(*name.port());
  return result;
}
