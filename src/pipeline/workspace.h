// What every command starts from: the repository, its configuration, and the files derived from both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/frontend/compile_commands.h"
#include "config/config.h"
#include "git/repository.h"
#include "history/database.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::pipeline {

struct Workspace {
  git::Repository repository;
  config::Config config;
  std::string root;  ///< work tree, absolute

  std::string database_path() const { return config.history_database; }
};

/// Opens the repository around `directory` and reads its configuration; `database` overrides the configured
/// one. Errors: Repository, Usage (configuration).
Result<Workspace> open_workspace(const std::string& directory, const std::string& database);

/// Opens the history for reading. Error: History with the way out when nothing was recorded yet.
Result<history::Database> open_history(const Workspace& workspace, history::OpenMode mode);

/// Where the compile database lies: as configured, else of the instrumented build, else of the user's; empty
/// when none of them has one. Error: Project when the configured one does not exist.
Result<std::string> configured_compile_database(const Workspace& workspace);

/// The same, else wherever one is. Error: Project.
Result<std::string> find_compile_database(const Workspace& workspace);

/// Commands of the sources that the configuration does not exclude. Error: Project.
Result<std::vector<analysis::CompileCommand>> load_commands(const Workspace& workspace,
                                                            const std::string& database);
/// Those of find_compile_database().
Result<std::vector<analysis::CompileCommand>> compile_commands(const Workspace& workspace);

/// An analyser of one revision. `other_paths`: files of the revision it is compared with. `points`: see
/// analysis::AnalysisOptions.
analysis::Analyzer make_analyzer(const Workspace& workspace, std::shared_ptr<const SourceTree> tree,
                                 const std::vector<std::string>& other_paths, const InterruptToken* interrupt,
                                 bool points = true);

}  // namespace simrt::pipeline
