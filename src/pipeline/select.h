// `simrt select`: the nearest recorded ancestor and the changed revision -> parsed units -> CFG diff ->
// impact
// -> chosen, ordered tests. Reads the history and the sources; executes nothing of the repository.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/program.h"
#include "model/selection.h"
#include "report/selection_view.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::pipeline {

struct SelectRequest {
  std::string directory = ".";
  std::string database;       ///< empty: as configured
  std::string base;           ///< empty: the nearest recorded ancestor of head
  std::string head = "HEAD";  ///< a revision, or WORKTREE
  bool rest = false;          ///< order the rest of the suite, too
  std::optional<Technique> technique;
  std::optional<Ranking> ranking;
  std::optional<double> budget_seconds;
  std::optional<std::uint64_t> seed;
  unsigned jobs = 0;     ///< parses at once; 0: one a processor
  bool remember = true;  ///< keep the impacted pairs in the history, for `history pairs`
  const InterruptToken* interrupt = nullptr;
};

struct SelectOutcome {
  report::SelectionView view;
  /// Why a test was not selected, line by line; empty for one that runs.
  std::function<std::vector<std::string>(TestId)> explain_skip;
  std::shared_ptr<const Program> program;  ///< head's
};

Result<SelectOutcome> run_select(const SelectRequest& request);

}  // namespace simrt::pipeline
