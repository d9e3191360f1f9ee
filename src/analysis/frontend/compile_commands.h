// The compile database: which sources a build compiles, and how. No clang types: the pipeline reads it too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/result.h"

namespace simrt::analysis {

struct CompileCommand {
  std::string file;       ///< repository-relative when inside the repository, else absolute
  std::string directory;  ///< absolute working directory of the compiler
  std::vector<std::string>
      arguments;  ///< compiler first; response files expanded, launchers such as ccache removed
  bool operator==(const CompileCommand&) const = default;
};

/// Reads compile_commands.json. C and C++ sources only, ordered by file. A file that is compiled several
/// times (for several targets) keeps the first of its commands in the database, as one file is one unit of
/// facts. Errors (Project): unreadable, not a compile database, nothing usable in it.
Result<std::vector<CompileCommand>> load_compile_commands(const std::filesystem::path& database,
                                                          const std::filesystem::path& repository_root);

/// compile_commands.json of the repository itself, of `build`, or of another directory one or two levels down
/// (alphabetically first; hidden ones last). Errors (Project): none there, with the way to get one.
Result<std::filesystem::path> find_compile_commands(const std::filesystem::path& repository_root);

/// Hash of what the command means for the code: language, macros, include paths, target and the like.
/// Independent of output names, dependency files, warnings, debug info, coverage and sanitizer flags, the
/// compiler's name, and of where the repository lies.
std::uint64_t command_hash(const CompileCommand& command, const std::string& repository_root);

}  // namespace simrt::analysis
