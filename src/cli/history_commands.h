// The two halves of `simrt history`: questions, and care of the database.
#pragma once

#include "cli/command.h"

namespace simrt::cli {

void add_history_queries(CLI::App& history, const Commands& commands);
void add_history_findings(CLI::App& history, const Commands& commands);
void add_history_patterns(CLI::App& history, const Commands& commands);
void add_history_care(CLI::App& history, const Commands& commands);

}  // namespace simrt::cli
