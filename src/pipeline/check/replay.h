// `simrt replay`: the same execution again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "support/interrupt.h"
#include "support/result.h"

namespace simrt::pipeline {

struct ReplayRequest {
  std::string directory = ".";
  std::string database;
  std::string build;    ///< the check build; relative: below the repository's root; empty: as configured
  std::string witness;  ///< id or a prefix that fits one
  unsigned times = 1;
  bool trace = false;        ///< keep the interleaving
  bool gdb = false;          ///< start the program under gdb, attached to this terminal
  std::string gdb_commands;  ///< a file of gdb commands to run instead, without a terminal
  double timeout_seconds = 60;
  const InterruptToken* interrupt = nullptr;
};

struct ReplayOutcome {
  std::string test, title;
  std::string expected;                          ///< how the witness ends
  std::map<std::string, std::uint64_t> endings;  ///< of these executions
  /// Executions; those that took the schedule and ended as expected, or, where the one or the other was cut
  /// at a limit, showed the race of the witness.
  std::uint64_t times = 0, same = 0;
  std::optional<std::uint64_t> shown;  ///< executions that showed the race; nothing where it is none
  std::uint64_t switches = 0;
  std::string output;  ///< of the last one
  std::vector<InterleavingStep> interleaving;
  std::vector<std::string> notes;
};

/// Errors: History (no such witness), Project (its test is gone), Execution.
Result<ReplayOutcome> run_replay(const ReplayRequest& request);

}  // namespace simrt::pipeline
