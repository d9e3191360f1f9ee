// Who called: the identity of a thread's creation.
#pragma once

#include "cover/recorder.h"

namespace simrt::runtime {

/// Return addresses from the caller of the interposed function outwards. `direct` is the interposed
/// function's own return address and always first; the rest needs the program's unwinder (libgcc_s, which
/// every C++ program has).
///
/// Why not the direct caller alone: for std::thread that is inside libstdc++.so, and further out come
/// template instantiations of the standard library in the user's module, different in depth for thread,
/// jthread and async. The recorder keeps the frames in instrumented modules; the host, which has symbols,
/// takes the first one whose function is the project's.
CallChain capture_call_chain(void* direct);

}  // namespace simrt::runtime
