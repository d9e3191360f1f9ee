// Compile commands of one revision: what the compile database says, what was recorded for sources that it
// lacks, and a best guess for those that nobody knows yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/frontend/compile_commands.h"
#include "model/change.h"
#include "model/source_tree.h"
#include "support/result.h"

namespace simrt::pipeline {

/// Commands of the sources that `tree` holds, by path. Sources outside it (generated, fetched) have no facts.
struct UnitCommands {
  std::map<std::string, analysis::CompileCommand> by_path;
  std::map<std::string, std::uint64_t> hashes;
  std::vector<std::string> guessed;   ///< sources with the command of a renamed predecessor or of a neighbour
  std::vector<std::string> recorded;  ///< sources with the command of the recorded revision
  std::vector<std::string> differing;  ///< sources that the database compiles otherwise than was recorded
};

/// A command of the revision that is compared with.
struct RecordedCommand {
  analysis::CompileCommand command;
  std::uint64_t hash = 0;  ///< as its facts carry it; the build directory may have been another one
};

/// `changes` and `recorded` may be empty. The database wins over what was recorded. A new source that the
/// database does not know (it was configured for another revision) gets the command of the file it was
/// renamed from, else of a recorded source of the same language beside it.
UnitCommands unit_commands(const std::vector<analysis::CompileCommand>& database,
                           const std::vector<RecordedCommand>& recorded, const SourceTree& tree,
                           const std::vector<FileChange>& changes, const std::string& repository_root);

}  // namespace simrt::pipeline
