// The revision to compare with: the nearest ancestor that the history knows.
#pragma once

#include <string>
#include <vector>

#include "history/revision_store.h"
#include "pipeline/workspace.h"
#include "report/selection_view.h"

namespace simrt::pipeline {

struct RecordedBase {
  history::RevisionInfo revision;
  std::string requested;  ///< full id of what was asked for; empty when nothing was
  std::vector<report::Fallback> fallbacks;
};

/// The nearest recorded ancestor of `base` (of `head`, when `base` is empty), complete recordings first at
/// equal distance. Older than asked for is safe: the change grows, nothing is missed. Error: History when no
/// ancestor was recorded.
Result<RecordedBase> find_recorded_base(const Workspace& workspace, history::Database& database,
                                        const std::string& base, const std::string& head);

}  // namespace simrt::pipeline
