// What may have decided where executions under one schedule differ: input that the engine does not control.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/execution/symbols.h"
#include "report/explore_view.h"
#include "testing/execution.h"

namespace simrt::pipeline {

struct InputScope {
  /// Inputs that were first read behind this event decide nothing before it. SIZE_MAX: all count.
  std::size_t event = SIZE_MAX;
  /// The executions belong to one process start, fork server or not: what a process start brings with it
  /// (its directory of temporary files; what the server read) is the same for both.
  bool one_start = false;
};

/// Of all these executions, by kind; of each kind the first read of the first execution that has one.
std::vector<report::UncontrolledInput> inputs_of(const std::vector<const testing::Execution*>& executions,
                                                 const InputScope& scope, Symbols* symbols);

/// "process number (getpid, Session::open at session.cc:12), random number (getrandom)"; empty when there are
/// none.
std::string to_string(const std::vector<report::UncontrolledInput>& inputs);

/// Behind a sentence on executions that should have been alike: "; what the program read and is not
/// controlled: ...". Empty when there is nothing.
std::string read_clause(const std::vector<const testing::Execution*>& executions, const InputScope& scope,
                        Symbols* symbols);

}  // namespace simrt::pipeline
