#include "config/toml_reader.h"

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "config/spelling.h"

namespace simrt::config {
namespace {

constexpr std::string_view kCommands = "tests.command";
constexpr std::string_view kRules = "rules";

std::string_view found_type(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

std::optional<std::vector<std::string>> text_list(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const toml::node& item : *array) {
    const auto* text = item.as_string();
    if (text == nullptr) return std::nullopt;
    texts.push_back(text->get());
  }
  return texts;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<FileContents> read(const toml::table& root) {
    if (Status status = read_table(root, ""); !status) return fail(status.error());
    return std::move(contents_);
  }

 private:
  /// toml++ sorts keys; errors are better in file order.
  static std::vector<std::pair<std::string, const toml::node*>> in_file_order(const toml::table& table) {
    std::vector<std::pair<std::string, const toml::node*>> entries;
    for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return a.second->source().begin.line < b.second->source().begin.line;
    });
    return entries;
  }

  tl::unexpected<Error> wrong(const toml::node& node, const std::string& what, std::string hint = {}) const {
    return fail(ErrorCode::Usage, fmt::format("{}:{}: {}", name_, node.source().begin.line, what),
                std::move(hint));
  }

  Status read_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : in_file_order(table)) {
      const std::string key = prefix.empty() ? name : prefix + "." + name;
      Status status = read_node(key, *node);
      if (!status) return status;
    }
    return {};
  }

  Status read_node(const std::string& key, const toml::node& node) {
    if (key == kCommands || key == kRules) return read_tables(key, node);
    if (const Option* option = option_by_key(key)) return read_option(*option, node);
    const auto is_section = [&](const Option& option) { return option.key.starts_with(key + "."); };
    if (std::none_of(options().begin(), options().end(), is_section)) return unknown(key, node);
    if (const toml::table* section = node.as_table()) return read_table(*section, key);
    return wrong(node, fmt::format("{}: expected a section, found {}", key, found_type(node)),
                 fmt::format("write [{}] on a line of its own, its keys below", key));
  }

  tl::unexpected<Error> unknown(const std::string& key, const toml::node& node) const {
    std::vector<std::string> known{std::string(kCommands), std::string(kRules)};
    for (const Option& option : options()) {
      known.emplace_back(option.key);
      const std::string section(option.key.substr(0, option.key.find('.')));
      if (std::find(known.begin(), known.end(), section) == known.end()) known.push_back(section);
    }
    std::string meant = nearest_spelling(key, known);
    if (meant.empty()) meant = same_last_word(key);
    return wrong(node, fmt::format("unknown {} \"{}\"", node.is_table() ? "section" : "key", key),
                 meant.empty() ? "the keys are listed in docs/configuration.md"
                               : fmt::format("did you mean \"{}\"?", meant));
  }

  /// "jobs" or "build.jobs" for "tests.jobs": the right key in the wrong section.
  static std::string same_last_word(const std::string& key) {
    const std::string word = key.substr(key.rfind('.') == std::string::npos ? 0 : key.rfind('.') + 1);
    for (const Option& option : options()) {
      if (option.key.ends_with("." + word)) return std::string(option.key);
    }
    return {};
  }

  Status read_option(const Option& option, const toml::node& node) {
    const std::optional<Value> value = typed(option, node);
    if (!value) {
      return wrong(node, fmt::format("{}: expected {}, found {}", option.key, type_text(option.type),
                                     found_type(node)));
    }
    auto checked = std::holds_alternative<std::string>(*value)
                       ? parse_value(option, std::get<std::string>(*value))
                       : check_value(option, *value);
    if (!checked)
      return wrong(node, fmt::format("{}: {}", option.key, checked.error().message), checked.error().hint);
    contents_.values.push_back({&option, *checked, node.source().begin.line});
    return {};
  }

  /// The node as the option's type; nullopt when it is another one.
  static std::optional<Value> typed(const Option& option, const toml::node& node) {
    switch (option.type) {
      case OptionType::Path:
      case OptionType::Choice:
        if (const auto* text = node.as_string()) return Value(text->get());
        return std::nullopt;
      case OptionType::Boolean:
        if (const auto* flag = node.as_boolean()) return Value(flag->get());
        return std::nullopt;
      case OptionType::Count:
        if (const auto* count = node.as_integer(); count != nullptr && count->get() >= 0) {
          return Value(static_cast<std::uint64_t>(count->get()));
        }
        return std::nullopt;
      case OptionType::Seconds:
        if (const auto* text = node.as_string()) return Value(text->get());
        if (const auto seconds = seconds_of(node)) return Value(*seconds);
        return std::nullopt;
      case OptionType::Globs:
        if (auto texts = text_list(node)) return Value(std::move(*texts));
        return std::nullopt;
    }
    return std::nullopt;
  }

  static std::optional<double> seconds_of(const toml::node& node) {
    double value = -1;
    if (const auto* whole = node.as_integer()) value = static_cast<double>(whole->get());
    if (const auto* real = node.as_floating_point()) value = real->get();
    if (!std::isfinite(value) || value < 0) return std::nullopt;
    return value;
  }

  Status read_tables(const std::string& key, const toml::node& node) {
    const toml::array* array = node.as_array();
    const bool tables =
        array != nullptr &&
        std::all_of(array->begin(), array->end(), [](const toml::node& item) { return item.is_table(); });
    if (!tables) {
      return wrong(node, fmt::format("{}: expected tables, found {}", key, found_type(node)),
                   fmt::format("write [[{}]] above each of them", key));
    }
    for (const toml::node& item : *array) {
      Status status = key == kRules ? read_rule(*item.as_table()) : read_command(*item.as_table());
      if (!status) return status;
    }
    return {};
  }

  Status check_keys(const toml::table& table, std::string_view where, const std::vector<std::string>& known,
                    const std::vector<std::string>& required) const {
    for (const auto& [key, node] : in_file_order(table)) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string meant = nearest_spelling(key, known);
      return wrong(*node, fmt::format("unknown key \"{}\" in [[{}]]", key, where),
                   meant.empty() ? fmt::format("known keys: {}", fmt::join(known, ", "))
                                 : fmt::format("did you mean \"{}\"?", meant));
    }
    for (const std::string& key : required) {
      if (!table.contains(key)) return wrong(table, fmt::format("[[{}]] has no {}", where, key));
    }
    return {};
  }

  Result<std::string> text_in(const toml::table& table, std::string_view where, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::string();
    const auto* text = node->as_string();
    if (text == nullptr || text->get().empty()) {
      return wrong(*node, fmt::format("{} in [[{}]]: expected a text that is not empty, found {}", key, where,
                                      text != nullptr ? "an empty one" : found_type(*node)));
    }
    return text->get();
  }

  Status read_rule(const toml::table& table) {
    Status keys = check_keys(table, kRules, {"pattern", "action", "reason"}, {"pattern", "action"});
    if (!keys) return keys;
    auto pattern = text_in(table, kRules, "pattern");
    if (!pattern) return fail(pattern.error());
    auto action = text_in(table, kRules, "action");
    if (!action) return fail(action.error());
    auto reason = text_in(table, kRules, "reason");
    if (!reason) return fail(reason.error());
    auto rule = parse_rule(*pattern, *action);
    if (!rule) return wrong(table, "[[rules]]: " + rule.error().message, rule.error().hint);
    rule->reason = reason->empty() ? fmt::format("rule \"{}\" of {}", *pattern, name_) : *reason;
    contents_.rules.push_back(std::move(*rule));
    return {};
  }

  Status read_command(const toml::table& table) {
    Status keys =
        check_keys(table, kCommands, {"name", "command", "directory", "timeout_seconds", "environment"},
                   {"name", "command"});
    if (!keys) return keys;
    TestCommand command;
    auto name = text_in(table, kCommands, "name");
    if (!name) return fail(name.error());
    command.name = *name;
    auto directory = text_in(table, kCommands, "directory");
    if (!directory) return fail(directory.error());
    command.directory = *directory;
    const toml::node& argv = *table.get("command");
    auto words = text_list(argv);
    if (!words || words->empty() || words->front().empty()) {
      return wrong(argv, "command in [[tests.command]]: expected a list of texts, the program first",
                   "no shell runs it; for a shell write [\"sh\", \"-c\", \"...\"]");
    }
    command.command = std::move(*words);
    if (const toml::node* limit = table.get("timeout_seconds")) {
      const auto seconds = seconds_of(*limit);
      if (!seconds) {
        return wrong(*limit,
                     fmt::format("timeout_seconds in [[{}]]: expected a number of seconds", kCommands));
      }
      command.timeout_seconds = *seconds;
    }
    if (Status status = read_environment(table, command); !status) return status;
    const auto same = [&](const TestCommand& other) { return other.name == command.name; };
    if (std::any_of(contents_.commands.begin(), contents_.commands.end(), same)) {
      return wrong(table, fmt::format("two [[{}]] are named \"{}\"", kCommands, command.name));
    }
    contents_.commands.push_back(std::move(command));
    return {};
  }

  Status read_environment(const toml::table& table, TestCommand& command) const {
    const toml::node* node = table.get("environment");
    if (node == nullptr) return {};
    const toml::table* variables = node->as_table();
    if (variables == nullptr) {
      return wrong(
          *node,
          fmt::format("environment in [[{}]]: expected a table, found {}", kCommands, found_type(*node)),
          "for example: environment = { TZ = \"UTC\" }");
    }
    for (const auto& [key, value] : *variables) {
      const auto* text = value.as_string();
      if (text == nullptr) {
        return wrong(value, fmt::format("environment.{} in [[{}]]: expected a text, found {}", key.str(),
                                        kCommands, found_type(value)));
      }
      command.environment[std::string(key.str())] = text->get();
    }
    return {};
  }

  const std::string& name_;
  FileContents contents_;
};

}  // namespace

Result<FileContents> read_toml(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(ErrorCode::Usage,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  return Reader(name).read(parsed.table());
}

}  // namespace simrt::config
