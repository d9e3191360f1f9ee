// Past selections: which pairs a change impacted, which of them no test covers, and which tests were chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/row_ids.h"
#include "model/impact.h"
#include "model/program.h"
#include "model/selection.h"

namespace simrt::history {

struct SelectionRecord {
  RevisionId base;
  std::string head;  ///< commit id, or "worktree"
  Technique technique = Technique::SimRT;
  std::int64_t created_at = 0;  ///< seconds since 1970
};

/// Stores a summary: pairs (the first 1,000 covered and uncovered ones) with their accesses, and the listed
/// decisions. Only the newest ten selections keep accesses and pairs. `head` names functions and variables.
Result<SelectionId> put_selection(Database& database, const SelectionRecord& record, const Impact& impact,
                                  const Selection& selection, const Program& head);

struct SelectionSummary {
  SelectionId id;
  std::string base, head;  ///< commit ids
  std::string technique;   ///< "simrt", "simrt-n", "rtsc", "rta"
  std::int64_t created_at = 0;
  std::uint32_t tests = 0, selected = 0, pairs = 0, uncovered = 0, unknowns = 0;
};

/// Newest first, at most `limit`.
Result<std::vector<SelectionSummary>> selections(Database& database, std::uint32_t limit);

struct StoredAccess {
  std::string function, file;
  std::uint32_t line = 0, column = 0;
  AccessMode mode = AccessMode::Read;
  bool impacted = false;
};

struct StoredPair {
  SelectionId selection;
  std::uint32_t pair = 0;  ///< index into the selection's pairs
  std::string variable;
  StoredAccess first, second;
  std::string rule;  ///< of the impacted access: "access-changed", ...
  std::string cause;
  bool covered = false;  ///< some recorded test reached it with two threads
};

struct PairFilter {
  std::optional<SelectionId> selection;  ///< default: the newest one
  bool uncovered_only = false;
  std::uint32_t limit = 10000;
};

/// Pairs in the order of the selection. Empty when nothing was selected yet.
Result<std::vector<StoredPair>> selection_pairs(Database& database, const PairFilter& filter);

}  // namespace simrt::history
