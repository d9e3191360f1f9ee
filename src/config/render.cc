// The configuration file that `init` writes.
#include <fmt/format.h>

#include <iterator>

#include "config/config.h"
#include "config/options.h"
#include "support/files.h"

namespace simrt::config {
namespace {

/// Paths below the root are written relative to it, so that the file can be committed.
Value portable(const Config& config, const Option& option, Value value) {
  if (option.type != OptionType::Path) return value;
  const auto& path = std::get<std::string>(value);
  auto relative = relative_to(path, config.root);
  if (!relative) return value;
  return relative->empty() ? std::string(".") : *relative;
}

void write_options(std::string& out, const Config& config, std::string_view section) {
  const Config defaults = default_config(config.root);
  for (const Option& option : options()) {
    const auto dot = option.key.find('.');
    if (option.key.substr(0, dot) != section) continue;
    const Value value = get_value(config, option);
    const bool set = value != get_value(defaults, option);
    if (!set && !option.common) continue;
    fmt::format_to(std::back_inserter(out), "# {}\n{}{} = {}\n", option.help, set ? "" : "# ",
                   option.key.substr(dot + 1), value_text(portable(config, option, value)));
  }
}

void write_commands(std::string& out, const Config& config) {
  if (config.commands.empty()) {
    out +=
        "# A test that neither CTest nor Meson knows (argv without a shell; programs are seen from the "
        "instrumented "
        "directory):\n"
        "# [[tests.command]]\n# name = \"smoke\"\n# command = [\"./bin/smoke\", \"--quick\"]\n";
  }
  for (const TestCommand& command : config.commands) {
    std::vector<std::string> argv = command.command;
    if (auto below = relative_to(argv.front(), config.instrumented_directory)) argv.front() = "./" + *below;
    fmt::format_to(std::back_inserter(out), "\n[[tests.command]]\nname = {}\ncommand = {}\n",
                   quoted(command.name), value_text(argv));
    if (command.directory != config.instrumented_directory) {
      const auto below = relative_to(command.directory, config.root);
      const std::string directory = !below ? command.directory : below->empty() ? "." : *below;
      fmt::format_to(std::back_inserter(out), "directory = {}\n", quoted(directory));
    }
    if (command.timeout_seconds != 0) {
      fmt::format_to(std::back_inserter(out), "timeout_seconds = {}\n", command.timeout_seconds);
    }
    if (command.environment.empty()) continue;
    std::vector<std::string> variables;
    for (const auto& [key, value] : command.environment) {
      variables.push_back(fmt::format("{} = {}", quoted(key), quoted(value)));
    }
    fmt::format_to(std::back_inserter(out), "environment = {{ {} }}\n", fmt::join(variables, ", "));
  }
}

void write_rules(std::string& out, const Config& config) {
  out +=
      "\n# What a change outside the analysed code means; the first match counts. Built in: build "
      "definitions, test "
      "data\n"
      "# and everything unknown select all tests; documentation, licences, images and CI definitions select "
      "none.\n";
  if (config.rules.empty()) {
    out +=
        "# [[rules]]\n# pattern = \"tools/**\"\n# action = \"ignore\"       # or \"all\", or "
        "\"tests:<glob>\"\n";
  }
  for (const Rule& rule : config.rules) {
    fmt::format_to(std::back_inserter(out), "\n[[rules]]\npattern = {}\naction = {}\n", quoted(rule.pattern),
                   quoted(action_text(rule)));
    if (!rule.reason.empty()) fmt::format_to(std::back_inserter(out), "reason = {}\n", quoted(rule.reason));
  }
}

}  // namespace

std::string render_default_toml(const Config& config) {
  std::string out =
      "# simrt: which tests could reveal new concurrency bugs. Commented lines show the defaults; "
      "environment "
      "variables\n# (SIMRT_*) and flags win over this file. Paths are seen from this directory.\n";
  std::string_view section;
  for (const Option& option : options()) {
    const std::string_view here = option.key.substr(0, option.key.find('.'));
    if (here == section) continue;
    section = here;
    fmt::format_to(std::back_inserter(out), "\n[{}]\n", section);
    write_options(out, config, section);
    if (section == "tests") write_commands(out, config);
  }
  write_rules(out, config);
  return out;
}

}  // namespace simrt::config
