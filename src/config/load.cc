// Precedence: each source overwrites what the one before it said.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "config/config.h"
#include "config/options.h"
#include "config/spelling.h"
#include "config/toml_reader.h"
#include "support/files.h"

namespace simrt::config {
namespace {

/// Paths become absolute where they are read, because every source has its own base.
Value resolved(const Option& option, Value value, const std::string& base) {
  if (option.type != OptionType::Path) return value;
  return absolute_path(std::get<std::string>(value), base);
}

void assign(Config& config, const Option& option, Value value, Origin origin) {
  set_value(config, option, std::move(value));
  config.origins[std::string(option.key)] = std::move(origin);
}

Status load_file(Config& config, const Inputs& inputs) {
  const bool named = !inputs.file.empty();
  const std::string path =
      named ? absolute_path(inputs.file, inputs.directory) : inputs.root + "/" + kConfigFile;
  if (!named && !is_file(path)) return {};
  auto text = read_file(path);
  if (!text) return fail(ErrorCode::Project, text.error().message, text.error().hint);
  const std::string name = relative_to(path, inputs.root).value_or(path);
  auto contents = read_toml(*text, name);
  if (!contents) return fail(contents.error());
  config.file = path;
  for (FileValue& entry : contents->values) {
    assign(config, *entry.option, resolved(*entry.option, std::move(entry.value), inputs.root),
           {Origin::Kind::File, fmt::format("{}:{}", name, entry.line)});
  }
  config.commands = std::move(contents->commands);
  config.rules = std::move(contents->rules);
  return {};
}

Status load_environment(Config& config, const Inputs& inputs) {
  for (const Option& option : options()) {
    auto variable = inputs.environment.find(std::string(option.environment));
    if (variable == inputs.environment.end() || variable->second.empty()) continue;
    auto value = parse_value(option, variable->second);
    if (!value) {
      return fail(ErrorCode::Usage, fmt::format("{}: {}", option.environment, value.error().message),
                  value.error().hint);
    }
    assign(config, option, resolved(option, std::move(*value), inputs.directory),
           {Origin::Kind::Environment, std::string(option.environment)});
  }
  return {};
}

Status load_flags(Config& config, const Inputs& inputs) {
  std::set<std::string_view> lists_begun;
  for (const auto& [name, text] : inputs.flags) {
    const Option* option = option_by_name(name);
    if (option == nullptr) {
      std::vector<std::string> known;
      for (const Option& candidate : options()) known.emplace_back(candidate.name);
      const std::string meant = nearest_spelling(name, known);
      return fail(ErrorCode::Usage, fmt::format("unknown option --{}", name),
                  meant.empty() ? "" : fmt::format("did you mean --{}?", meant));
    }
    auto value = parse_value(*option, text);
    if (!value) {
      return fail(ErrorCode::Usage, fmt::format("--{}: {}", name, value.error().message), value.error().hint);
    }
    // The first list flag replaces what file and environment said; further ones add to it.
    if (option->type == OptionType::Globs && !lists_begun.insert(option->name).second) {
      auto all = std::get<std::vector<std::string>>(get_value(config, *option));
      const auto& more = std::get<std::vector<std::string>>(*value);
      all.insert(all.end(), more.begin(), more.end());
      value = Value(std::move(all));
    }
    assign(config, *option, resolved(*option, std::move(*value), inputs.directory),
           {Origin::Kind::Flag, fmt::format("--{}", name)});
  }
  return {};
}

/// A command's paths are seen from the instrumented directory, which any source may set.
void resolve_commands(Config& config) {
  for (TestCommand& command : config.commands) {
    command.directory = command.directory.empty() ? config.instrumented_directory
                                                  : absolute_path(command.directory, config.root);
    std::string& program = command.command.front();
    if (program.find('/') != std::string::npos)
      program = absolute_path(program, config.instrumented_directory);
  }
}

}  // namespace

Config default_config(const std::string& root) {
  Config config;
  config.root = root;
  for (const Option& option : options()) {
    if (option.type != OptionType::Path) continue;
    const auto text = std::get<std::string>(get_value(config, option));
    if (!text.empty()) set_value(config, option, absolute_path(text, root));
  }
  return config;
}

Result<Config> load(const Inputs& inputs) {
  Config config = default_config(inputs.root);
  for (auto* step : {&load_file, &load_environment, &load_flags}) {
    if (Status status = step(config, inputs); !status) return fail(status.error());
  }
  resolve_commands(config);
  return config;
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (!text.starts_with("SIMRT_") || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace simrt::config
