// The other build: not for recording coverage but for `check`, under detector and controlled scheduling.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"
#include "wrappers/command_line.h"
#include "wrappers/toolset.h"

namespace simrt::wrappers {

enum class Build { Record, Check };

/// What $SIMRT_BUILD (null = not set) asks for: "record", the default, or "check".
Result<Build> build_of(const char* variable);

/// Flags of a compilation: ThreadSanitizer's instrumentation, which libsimrt_check answers in place of
/// ThreadSanitizer's runtime. clang would leave out the read of a read-then-write in one block.
std::vector<std::string> check_flags(Family family);

/// The command with everything added, as instrumented_command (plan.h) does for recording.
std::vector<std::string> check_command(const Compiler& compiler, const CommandLine& line,
                                       const RuntimeFiles& runtime);

}  // namespace simrt::wrappers
