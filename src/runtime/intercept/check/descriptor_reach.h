// Whether anybody but the threads of this program can make a descriptor ready. If not, and all of them wait,
// nothing is to be waited for in real time: virtual time goes on at once, or there is a deadlock.
//
// What is asked is the kernel, each time: what the numbers stand for, what an epoll set holds, who a
// connection's other end is. What it does not tell, or tells of somebody else, is outside.
#pragma once

#include <poll.h>
#include <stdint.h>

#include "control/reach.h"

namespace simrt::rt {

/// For Engine::reach_of. Needs the token.
control::Reach reach_of_descriptors(const struct pollfd* polls, uint32_t count);

/// For Engine::has_visitors: children and timers whose signals are handled, threads beside the `threads`.
bool has_visitors(uint32_t threads);

/// Of one descriptor.
control::Reach reach_of_descriptor(int fd);

}  // namespace simrt::rt
