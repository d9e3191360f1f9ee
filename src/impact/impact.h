// Impact analysis: two programs and their CFG diff -> impacted shared-variable accesses (SV) and the pairs of
// them (ISVP) that a test has to cover to be worth running. Source: SimRT (ICSE 2014), section 3.2, with the
// C++ readings of its five rules. Pure: knows neither sources, git, Clang nor the history.
#pragma once

#include <cstddef>
#include <functional>

#include "model/change.h"
#include "model/impact.h"
#include "model/program.h"

namespace simrt::impact {

struct ImpactOptions {
  /// Code that belongs to a test itself. A test whose own code changed runs anyway, so a change there is no
  /// cause of impact elsewhere. Null: no function is test code.
  std::function<bool(const FunctionFacts&)> is_test_code;
  /// Above this many pairs in one alias class, accesses that coverage cannot tell apart (block, mode,
  /// impacted, type) pair as one: which tests are selected stays the same, only reasons get coarser.
  std::size_t max_pairs_per_class = 200'000;
  /// Where that leaves more pairs than this in all, an access may stand for many (SharedAccess::stands_for):
  /// again the same tests.
  std::size_t max_targets = 200'000;
  /// Also report accesses that are neither impacted nor partner of an impacted one (for dumps and tests).
  bool keep_all_accesses = false;
};

/// Analyses the change `before` -> `after` described by `diff`. Both programs must be indexed
/// (Program::index). Deterministic and thread-safe (no shared state); never fails: what cannot be known is
/// listed in Impact::unknowns.
Impact analyse_impact(const Program& before, const Program& after, const ProgramDiff& diff,
                      const ImpactOptions& options = {});

}  // namespace simrt::impact
