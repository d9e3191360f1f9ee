// What another machine's `simrt explore` covered. Internal to the layer.
#pragma once

#include "history/connection.h"
#include "history/merge.h"
#include "history/row_map.h"

namespace simrt::history {

/// The explorations of all runs; of each test what is known of its interleavings is what the newest one of
/// them left, as if all had been made here. `runs`: the check runs, merged before.
void merge_explorations(Connection& from, Connection& to, const RowMap& runs, MergeReport& report);

}  // namespace simrt::history
