// What a report of an exploration needs. Reports are pure: the same view gives the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

namespace simrt::report {

/// Coverage of memory-access patterns (MAP, ASE 2019).
struct PatternFigures {
  std::uint64_t covered = 0;   ///< instances
  std::uint64_t total = 0;     ///< TC, definition 1 of the paper
  std::uint64_t feasible = 0;  ///< estimate: what neither creation and joining nor a common lock rules out
  bool feasible_cut = false;   ///< there are more
  std::uint64_t impacted = 0, impacted_feasible = 0;  ///< with a step that the change touches
  std::uint64_t remembered = 0;                       ///< of `covered`: by earlier explorations
};

/// Failing executions that end alike, at the same place.
struct FailureKind {
  std::string ending;
  std::vector<std::string> places;  ///< of a deadlock: where the threads wait
  std::uint64_t first = 0;          ///< number of the first such execution
  std::uint64_t count = 0;
};

/// What had been covered after so many executions, what earlier explorations covered included.
struct CoverageStep {
  std::uint64_t executions = 0;
  std::uint64_t covered = 0, method_pairs = 0, orders = 0;
  std::uint64_t failure_kinds = 0;
};

/// Something that the program read and the engine does not control.
struct UncontrolledInput {
  std::string kind;   ///< "process number"
  std::string name;   ///< "getpid"
  std::string place;  ///< "Session::open at session.cc:12"; may be empty
};

/// Two executions under one schedule that were not alike.
struct Nondeterminism {
  std::string differs;                    ///< "events", "addresses" or "output"
  std::uint64_t event = 0;                ///< number of the first event that differs, from 1; 0 = output
  std::string place;                      ///< of that event
  std::vector<UncontrolledInput> inputs;  ///< read before it
};

struct ExploredTest {
  std::string name;
  std::string end;  ///< why it stopped
  std::uint64_t executions = 0, extra = 0, failed = 0;
  std::uint64_t first_failure = 0;  ///< number of the execution; 0 = none failed
  std::string first_ending;
  std::vector<FailureKind> failure_kinds;  ///< in the order in which they were met
  std::vector<CoverageStep> growth;        ///< after 1, 2, 5, 10, 20, 50, ... executions and the last one
  double seconds = 0, seconds_to_failure = 0;
  std::uint64_t points = 0;  ///< longest execution
  std::uint32_t threads = 0;
  PatternFigures patterns;
  std::uint64_t method_pairs = 0, orders = 0;
  double discovery_probability = 1;  ///< that another execution covers something new (Good-Turing)
  bool complete = false;             ///< everything in `scope` was covered
  std::string scope;
  bool skipped = false;  ///< an earlier exploration left nothing to do
  std::vector<std::string> strategy_lines, notes;
  std::optional<Nondeterminism> nondeterminism;  ///< its note is among the notes
};

struct ExploreView {
  std::string head, base;  ///< revisions; both empty for a single program
  std::string strategy;
  std::uint64_t seed = 0;
  double seconds = 0;
  bool kept = false;  ///< in the history
  std::size_t not_run = 0;
  std::vector<ExploredTest> tests;
  std::vector<Finding> findings;
  std::vector<std::string> notes;

  /// Confirmed, and neither known nor suppressed.
  std::size_t new_bugs() const;
};

std::string render_explore_text(const ExploreView& view);
std::string render_explore_json(const ExploreView& view);

}  // namespace simrt::report
