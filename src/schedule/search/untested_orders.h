// Orders of two steps that another schedule could turn round and that no good execution has shown the other
// way round: where a search guided by HaPSets goes next (HaPSet paper, section 5.1, algorithm 5).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/hapset/hapset.h"
#include "schedule/search/races.h"

namespace simrt::schedule {

/// `first` was made while the thread of `second` was about to make `second`, or before; the two are dependent
/// and may be enabled at once. Indices as in ReversibleRace.
struct UntestedOrder {
  std::size_t first = 0;
  std::size_t second = 0;
};

/// When a reversal is worth an execution.
enum class Novelty : std::uint8_t {
  Reversed,  ///< that order was not seen: the paper's condition
  Either     ///< or `second` would come behind a step that it was never seen immediately behind
};

struct UntestedOrders {
  std::vector<UntestedOrder> orders;  ///< in the order in which the execution came to them
  std::uint64_t tested = 0;           ///< orders that were left out because the HaPSets know their reversal
};

/// In every state of the execution and for every thread, the latest step that its next step could come
/// before, if that would be new. Next steps count from the state on in which they become next, whether made
/// then or later: in a state behind each turn of a loop a thread that waits outside may come in, which only
/// the last turn would tell of were steps looked at when they are made. `known` are the HaPSets before the
/// execution; what it shows itself counts from where it shows it. States up to the event `from` are left out:
/// they were looked at with the execution that came to them first.
UntestedOrders untested_orders(const Execution& execution, const RaceAnalysis& analysis, const HapSets& known,
                               std::size_t from, Novelty novelty);

}  // namespace simrt::schedule
