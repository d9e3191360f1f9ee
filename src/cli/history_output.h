// What the history subcommands share: the open database, the revision they speak of, and the two output
// formats.
#pragma once

#include <string>

#include "history/database.h"
#include "history/revision_store.h"
#include "model/test.h"
#include "pipeline/workspace.h"
#include "report/table.h"
#include "support/result.h"

namespace simrt::cli {

struct OpenedHistory {
  pipeline::Workspace workspace;
  history::Database database;
};

Result<OpenedHistory> open_for(const std::string& directory, const std::string& database,
                               history::OpenMode mode);

/// `text` empty: the newest recorded revision. Error: History when it is not recorded.
Result<history::RevisionInfo> recorded_revision(OpenedHistory& opened, const std::string& text);

std::string outcome_name(Outcome outcome);

/// Prints the table in the asked format and gives exit status 0.
Result<int> show(const report::Table& table, const std::string& format);

}  // namespace simrt::cli
