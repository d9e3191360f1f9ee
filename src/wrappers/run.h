// Running a command and waiting for it. No shell.
#pragma once

#include <string>
#include <vector>

namespace simrt::wrappers {

enum class Output {
  Inherit,  ///< the caller's
  Discard,  ///< both streams to nowhere
  Collect   ///< standard error into RunResult::errors
};

struct RunResult {
  int status = 127;  ///< exit status; 128 + signal when killed; 127 when it could not be started
  std::string errors;
};

RunResult run(const std::vector<std::string>& command, Output output);

/// Replaces this process; returns only when the program cannot be started.
void replace_process(const std::vector<std::string>& command);

}  // namespace simrt::wrappers
