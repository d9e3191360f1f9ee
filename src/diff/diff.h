// Two programs -> changed functions, blocks and elements. Pure: knows nothing of git, Clang or the history,
// so that it can be tested with hand-built graphs.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/change.h"
#include "model/program.h"

namespace simrt::diff {

struct DiffOptions {
  /// (old path, new path), repository-relative, as git follows them. File-static functions carry their file
  /// in their identity and are paired through this map.
  std::vector<std::pair<std::string, std::string>> renamed_files;
  /// True: match again behind a mismatch (a refinement over DejaVu). False: the paper's stop at the mismatch.
  bool resync = true;
  /// Null: all functions. Otherwise only these (ids of either version) are looked at; everything that was
  /// parsed again has to be in it, so that a lambda's siblings and both halves of a moved function are.
  const std::set<FunctionId>* restrict_to = nullptr;
};

/// Compares two versions of a program (both with a valid index()).
///
/// A function is Unchanged when signature, body hash and flags are equal and neither version is broken. It is
/// then left out of the result - except when it was moved (its id differs): such an entry has status
/// Unchanged, no blocks, and its block ordinals are those of `old_id`.
///
/// Changed functions are walked as in DejaVu (Rothermel and Harrold; SimRT section 3.1), with locals matched
/// by an incremental bijection. What the caller may rely on:
/// - an element is Same only if its code and the locals in it agree and its order relative to all other Same
///   elements of the same straight-line code is kept;
/// - an edge, label or terminator that changed without any element changing makes the branching element
/// Altered;
/// - a test that enters new block B on p' entered `old_ordinal` of B on p, as far as control flow alone
/// tells; so
///   `old_ordinal` is the partner only while nothing that decides about reaching it has changed;
/// - elements of the old version without partner are in `removed`; what depended on them in the old graph
///   (data and control) is affected, and only the old graph can tell.
///
/// Thread-safe; deterministic; never fails (malformed graphs are compared as far as they go).
ProgramDiff diff_programs(const Program& before, const Program& after, const DiffOptions& options = {});

}  // namespace simrt::diff
