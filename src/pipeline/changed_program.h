// The program at the changed revision: the recorded one, with the units that the diff touches parsed anew.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "model/change.h"
#include "model/program.h"
#include "pipeline/commands.h"
#include "pipeline/facts_cache.h"
#include "report/selection_view.h"
#include "support/interrupt.h"

namespace simrt::pipeline {

struct ChangedProgram {
  Program after;
  std::set<FunctionId> touched;     ///< functions of parsed or removed units, of either version
  std::size_t parsed_units = 0;     ///< whose facts were made anew, or taken from the cache of such facts
  std::size_t cached_units = 0;     ///< of these, from the cache
  std::vector<FileChange> outside;  ///< changes that no unit compiles or includes
  std::vector<report::Fallback> fallbacks;  ///< what made the analysis look at more, or know less
  std::vector<Unknown> unknowns;            ///< what it does not know
};

struct ChangedProgramInput {
  const Program& before;
  const std::vector<FileChange>& changes;
  const UnitCommands& commands;
  const analysis::Analyzer& analyzer;  ///< of the changed revision
  const FactsCache& cache;
  const std::string& repository_root;
  unsigned jobs = 1;
  const InterruptToken* interrupt = nullptr;
};

/// Errors: Interrupted. A unit that cannot be parsed is an unknown, not an error.
Result<ChangedProgram> build_changed_program(const ChangedProgramInput& input);

}  // namespace simrt::pipeline
