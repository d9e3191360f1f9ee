// The states that an execution went through, coarse enough that different interleavings meet in them: what
// lies in the memory that its threads share, and where they stand. Search by states that were reached, not by
// what happened on the way, is that of learning-based testing (Mukherjee et al., OOPSLA 2020).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

/// What an atomic holds counts as its value; other memory by the place in the code that wrote it last. A
/// thread stands behind its last step that others could notice; threads in the same place are
/// interchangeable. Local variables are left out, so equal states need not have equal futures.
struct State {
  std::uint64_t hash = 0;
  std::size_t choices = 0;  ///< so many decisions lead there
};

/// Those that the execution entered, in order.
std::vector<State> states_of(const Execution& execution);

}  // namespace simrt::schedule
