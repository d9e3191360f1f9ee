// Decisions: which tests run for a change, in which order, and why.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/impact.h"
#include "model/test.h"

namespace simrt {

enum class Technique : std::uint8_t {
  SimRT,   ///< impacted pairs by two threads
  SimRTN,  ///< impacted pairs, any thread (SimRT-N)
  Rtsc,    ///< every test that traverses a dangerous edge (DejaVu)
  Rta      ///< all tests
};

enum class Ranking : std::uint8_t { Pairs, Cost, Abc, Random };

enum class ReasonKind : std::uint8_t {
  Pair,           ///< covers an impacted pair with two threads (SimRT-N: at all)
  DangerousEdge,  ///< RTSC
  All,            ///< RTA
  NewTest,        ///< not in the history's revision
  ChangedTest,    ///< its own code or command changed
  NoCoverage,     ///< no usable coverage: never recorded, not instrumented, other environment
  LastRunFailed,  ///< failed, crashed or timed out: vouches only for what it covered
  UnknownChange,  ///< the analysis does not know (parse errors, unmapped block, ...)
  ConfigRule,     ///< a change outside the analysed code, by the rule table
  NotCovered,     ///< skip: covers nothing of what the technique asks for
  OverBudget,     ///< selected, but the time budget ends before it
};

struct Reason {
  ReasonKind kind = ReasonKind::Pair;
  std::uint32_t pair = 0;    ///< index into Impact::pairs (Pair only)
  std::string first_thread;  ///< role that covered the first access (Pair only)
  std::string second_thread;
  std::string text;  ///< one line for people
};

enum class Tier : std::uint8_t {
  Selected,          ///< run it
  ImpactedAccess,    ///< --rest: covers impacted accesses, any thread
  SharedAccessOnly,  ///< --rest: covers only accesses that are not impacted
  Other
};

struct Decision {
  TestId test;
  bool run = false;  ///< selected and within the budget
  Tier tier = Tier::Other;
  std::uint32_t rank = 0;  ///< 1-based position in the list (with --rest: of the whole suite); 0 = not listed
  std::uint32_t new_pairs = 0;  ///< pairs it added when it was picked
  std::uint32_t pairs = 0;      ///< all impacted pairs it covers
  double seconds = 0;           ///< recorded duration
  std::vector<Reason> reasons;  ///< at least one
};

/// A test's recorded state, as the pure selector sees it.
struct RecordedTest {
  TestId test;
  std::string name;
  double seconds = 0;
  Outcome outcome = Outcome::Passed;
  const TestCoverage* coverage = nullptr;  ///< null: none usable
  std::vector<Reason>
      forced;  ///< reasons that select it whatever the coverage (new, changed, no history, ...)
};

struct Selection {
  std::vector<Decision> decisions;       ///< every test: listed ones first, in order
  std::vector<std::uint32_t> uncovered;  ///< pairs that no recorded test covers with two threads
};

}  // namespace simrt
