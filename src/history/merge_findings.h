// The part of a merge that concerns checks: runs, findings, sightings, witnesses, suppressions. Internal to
// the layer.
#pragma once

#include "history/connection.h"
#include "history/merge.h"
#include "history/row_map.h"

namespace simrt::history {

/// Runs meet by their uid, findings by fingerprint: the higher status wins, among equals what was seen last.
/// Of witnesses with one id the later one stays, of suppressions the one written last.
/// Returns where the runs of the source are in the target.
RowMap merge_findings(Connection& from, Connection& to, MergeReport& report);

}  // namespace simrt::history
