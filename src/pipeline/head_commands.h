// How the changed revision is compiled: by the compile database at hand, and by what was recorded for the
// units that it lacks, or when there is none.
#pragma once

#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/change.h"
#include "model/source_tree.h"
#include "pipeline/commands.h"
#include "pipeline/workspace.h"
#include "report/selection_view.h"

namespace simrt::pipeline {

struct HeadCommands {
  UnitCommands units;
  std::vector<report::Fallback>
      fallbacks;  ///< where the two sources of commands disagree, or may be outdated
};

/// `base` is the recorded revision that `tree` differs from by `changes`. A database that is configured or
/// lies in a configured build directory wins over what was recorded; one that lies just anywhere is looked at
/// only when nothing was recorded. Errors: Project when there is neither; History.
Result<HeadCommands> head_commands(const Workspace& workspace, history::Database& database,
                                   history::RevisionId base, const SourceTree& tree,
                                   const std::vector<FileChange>& changes);

}  // namespace simrt::pipeline
