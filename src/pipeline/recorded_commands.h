// Compile commands as the history keeps them: independent of where source and build directory lie, so that a
// clone without a build can select with what another machine recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frontend/compile_commands.h"
#include "history/command_store.h"
#include "pipeline/commands.h"

namespace simrt::pipeline {

/// Where one machine has the two directories; absolute paths.
struct BuildLocation {
  std::string source, build;
};

/// The commands of `commands` with both directories replaced by placeholders, by path.
std::vector<history::StoredCommand> portable_commands(const UnitCommands& commands,
                                                      const BuildLocation& location);

/// The same commands at another place. The build directory need not exist: what is generated in it is then
/// missing, and the units that include it are broken.
std::vector<RecordedCommand> commands_at(const std::vector<history::StoredCommand>& stored,
                                         const BuildLocation& location);

}  // namespace simrt::pipeline
