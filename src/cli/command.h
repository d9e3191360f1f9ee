// One subcommand a file: each adds itself to the parser and, when chosen, leaves an action behind.
// main() is the only place that turns an outcome into an exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "support/result.h"

namespace simrt::cli {

/// Flags that every subcommand shares.
struct GlobalOptions {
  std::string directory = ".";  ///< -C: run as if started there
  std::string database;         ///< --db: overrides the configuration
  bool quiet = false;
  bool verbose = false;
};

/// What the chosen subcommand does; the value is the exit status of a success (0, or 1 for findings).
using Action = std::function<Result<int>()>;

struct Commands {
  CLI::App& app;
  const GlobalOptions& global;
  Action& chosen;
};

void add_init(Commands commands);
void add_doctor(Commands commands);
void add_record(Commands commands);
void add_select(Commands commands);
void add_why(Commands commands);
void add_check(Commands commands);
void add_explore(Commands commands);
void add_replay(Commands commands);
void add_history(Commands commands);
void add_hook(Commands commands);
void add_facts(Commands commands);

/// Writes a result to standard output at once; ErrorCode::Storage when it cannot (closed pipe, full disk).
Status print(const std::string& text);

}  // namespace simrt::cli
