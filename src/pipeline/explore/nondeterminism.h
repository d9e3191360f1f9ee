// Two executions under one schedule compared: where they differ, something decides that the engine does not
// control.
#pragma once

#include <optional>
#include <string>

#include "pipeline/execution/symbols.h"
#include "pipeline/execution/test_program.h"
#include "report/explore_view.h"

namespace simrt::pipeline {

/// `one` and `again`: recorded with events, of one TestProgram. Nothing when they are alike: then nothing is
/// said of what the program reads, either.
std::optional<report::Nondeterminism> difference(const Observed& one, const Observed& again,
                                                 Symbols& symbols);

/// A sentence for people.
std::string to_string(const report::Nondeterminism& found);

}  // namespace simrt::pipeline
