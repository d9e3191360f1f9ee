// What the user can decide, resolved to one value: defaults < `.simrt.toml` < environment < flags.
// options.h holds the table behind it. Knows nothing of what the values are used for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/rules.h"
#include "support/result.h"

namespace simrt::config {

inline constexpr const char* kConfigFile = ".simrt.toml";

/// A test that is neither known to CTest nor to Meson: a command, run without a shell.
struct TestCommand {
  std::string name;
  std::vector<std::string>
      command;            ///< argv, program first; a relative program is below the instrumented directory
  std::string directory;  ///< working directory, absolute
  double timeout_seconds = 0;  ///< 0 = tests.timeout_seconds
  std::map<std::string, std::string> environment;
  bool operator==(const TestCommand&) const = default;
};

/// Where an option's value comes from.
struct Origin {
  enum class Kind : std::uint8_t { Default, File, Environment, Flag };
  Kind kind = Kind::Default;
  std::string where;  ///< ".simrt.toml:12", "SIMRT_JOBS", "--jobs"
  bool operator==(const Origin&) const = default;
};

/// The member initialisers are the defaults. Paths are absolute after load(); empty = not given, to be
/// discovered.
struct Config {
  std::string root;  ///< repository root, absolute
  std::string file;  ///< the configuration file that was read; empty when there is none

  std::string build_directory;
  std::string instrumented_directory = "build-simrt";
  std::string check_directory = "build-check";
  std::string compile_database;

  std::string history_database = ".simrt/history.db";
  std::string cache_directory = ".simrt/cache";

  bool ctest = true;
  bool meson = true;
  bool split_cases = true;
  bool parallel_cases = false;
  double timeout_seconds = 300;
  std::uint64_t jobs = 0;
  std::vector<std::string> exclude_tests;
  std::vector<TestCommand> commands;

  std::vector<std::string> exclude_sources;
  std::vector<std::string> source_files = {"*.c",   "*.cc",  "*.cpp",  "*.cxx", "*.c++", "*.h",
                                           "*.hh",  "*.hpp", "*.hxx",  "*.h++", "*.inl", "*.ipp",
                                           "*.tcc", "*.tpp", "*.cppm", "*.ixx"};

  std::string technique = "simrt";
  std::string rank = "simrt";
  std::string order = "cost";
  double budget_seconds = 0;
  std::uint64_t seed = 1;

  std::vector<Rule> rules;  ///< the user's, before the built-in ones

  std::map<std::string, Origin> origins;  ///< by TOML key; keys at their default are absent

  bool operator==(const Config&) const = default;
};

/// What load() reads from. Nothing is taken from the process itself, so that tests and hooks can decide.
struct Inputs {
  std::string root;  ///< repository root, absolute; relative paths of the file are seen from here
  std::string
      directory;  ///< current directory, absolute; relative paths of flags and environment are seen from here
  std::string file;  ///< configuration file; empty = <root>/.simrt.toml, which may be missing
  std::map<std::string, std::string> environment;  ///< others than the table's are ignored
  std::vector<std::pair<std::string, std::string>>
      flags;  ///< (option name, value); a repeated list flag adds
};

/// Nothing but the defaults, paths seen from `root`.
Config default_config(const std::string& root);

/// Errors: Usage, naming file and line, variable or flag, what is wrong, and the likely meant spelling;
/// Project, when `file` was named but cannot be read.
Result<Config> load(const Inputs& inputs);

/// The commented `.simrt.toml` for a project: values that differ from the defaults are set, the other options
/// a user is likely to want stand there as comments. Paths below the root are written relative. load() of the
/// text gives `config` back.
std::string render_default_toml(const Config& config);

/// The SIMRT_* variables of this process, for Inputs::environment.
std::map<std::string, std::string> process_environment();

}  // namespace simrt::config
