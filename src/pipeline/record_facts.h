// First half of recording: the facts of every unit of a revision, parsed only where the history has none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "history/row_ids.h"
#include "model/source_tree.h"
#include "pipeline/commands.h"
#include "pipeline/workspace.h"
#include "support/interrupt.h"

namespace simrt::pipeline {

struct RecordedFacts {
  std::size_t units = 0, parsed = 0, broken = 0;
  std::vector<std::string> messages;  ///< of broken units, the first few
};

/// Each unit is stored as soon as it is parsed. Errors: History, Storage; Interrupted.
Result<RecordedFacts> record_facts(const Workspace& workspace, history::Database& database,
                                   history::RevisionId revision, std::shared_ptr<const SourceTree> tree,
                                   const UnitCommands& commands, unsigned jobs,
                                   const InterruptToken* interrupt);

}  // namespace simrt::pipeline
