// The one table of options. Flags, environment variables, TOML keys, documentation and the Config's fields
// all come from it, so that they cannot disagree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"
#include "support/result.h"

namespace simrt::config {

enum class OptionType : std::uint8_t {
  Path,     ///< relative ones are seen from the root (file) or the current directory (flag, environment)
  Choice,   ///< one of `choices`
  Boolean,  ///< text: true/false, yes/no, on/off, 1/0
  Count,    ///< whole number >= 0
  Seconds,  ///< number >= 0; as text also "90s", "15m", "2h"
  Globs     ///< list; as text separated by commas
};

using Field = std::variant<std::string Config::*, bool Config::*, std::uint64_t Config::*, double Config::*,
                           std::vector<std::string> Config::*>;

struct Option {
  std::string_view name;         ///< flag without the dashes: "jobs"
  std::string_view key;          ///< in the file: "tests.jobs"
  std::string_view environment;  ///< "SIMRT_JOBS"
  OptionType type = OptionType::Path;
  Field field;
  std::vector<std::string_view> choices;
  std::string_view help;  ///< one sentence, for --help and the written file
  bool common = false;    ///< worth a line in the file that `init` writes
};

/// In the order of the documentation; keys of one section stand together.
const std::vector<Option>& options();
const Option* option_by_name(std::string_view name);
const Option* option_by_key(std::string_view key);

using Value = std::variant<std::string, bool, std::uint64_t, double, std::vector<std::string>>;

/// A value as the environment and flags give it. Errors: Usage, without saying where (the caller knows).
Result<Value> parse_value(const Option& option, std::string_view text);
/// A value that has its TOML type already: checks choices, signs and globs. Errors: Usage.
Result<Value> check_value(const Option& option, Value value);

void set_value(Config& config, const Option& option, Value value);
Value get_value(const Config& config, const Option& option);
/// As TOML writes it.
std::string value_text(const Value& value);
/// A TOML basic string, quoted and escaped.
std::string quoted(std::string_view text);
/// "a whole number", for messages.
std::string_view type_text(OptionType type);

}  // namespace simrt::config
