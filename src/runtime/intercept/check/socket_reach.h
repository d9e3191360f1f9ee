// The other ends of sockets: whether only this process has them, and whether what was sent has arrived.
#pragma once

#include "control/reach.h"

namespace simrt::rt {

/// Of a socket that this process made (own_descriptors.h). Unix sockets deliver at once. Over loopback TCP
/// what was sent is under way for a moment; it has arrived when the receiver counts as many bytes as the
/// sender. Datagrams over the network are outside: nobody counts them.
control::Reach reach_of_socket(int fd);

/// What this process does to a connection that it has both ends of shows at the other end when the call
/// returns, or at least soon: while it lives, one call on `fd`. Others than TCP need no wait.
class Arrival {
 public:
  explicit Arrival(int fd);
  ~Arrival();
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

 private:
  int fd_, other_ = -1;
};

/// At the start of an execution: whether the host itself started this process, so that no other program of
/// the test exists that could connect to a socket of this one.
void look_who_started_us();

}  // namespace simrt::rt
