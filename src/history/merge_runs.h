// The parts of a merge that concern runs (with their coverage) and selections. Internal to the layer.
#pragma once

#include "history/connection.h"
#include "history/merge.h"
#include "history/row_map.h"

namespace simrt::history {

void merge_runs(Connection& from, Connection& to, const RowMap& revisions, MergeReport& report);
void merge_selections(Connection& from, Connection& to, const RowMap& revisions, MergeReport& report);

}  // namespace simrt::history
