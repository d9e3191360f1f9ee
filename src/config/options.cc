#include "config/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/glob.h"
#include "config/spelling.h"

namespace simrt::config {
namespace {

std::vector<Option> make_options() {
  using T = OptionType;
  return {
      {"build-dir",
       "build.directory",
       "SIMRT_BUILD_DIR",
       T::Path,
       &Config::build_directory,
       {},
       "Your own build directory, the one with compile_commands.json; found by itself when not given.",
       true},
      {"instrumented-dir",
       "build.instrumented",
       "SIMRT_INSTRUMENTED_DIR",
       T::Path,
       &Config::instrumented_directory,
       {},
       "The build directory made with the simrt compiler wrappers; its tests are run and recorded.",
       true},
      {"check-dir",
       "build.check",
       "SIMRT_CHECK_DIR",
       T::Path,
       &Config::check_directory,
       {},
       "The build directory for simrt check and simrt replay (SIMRT_BUILD=check).",
       true},
      {"compile-database",
       "build.compile_commands",
       "SIMRT_COMPILE_DATABASE",
       T::Path,
       &Config::compile_database,
       {},
       "The compile database, when it is not compile_commands.json in the build directory."},
      {"db",
       "history.database",
       "SIMRT_DB",
       T::Path,
       &Config::history_database,
       {},
       "The history of recorded coverage.",
       true},
      {"cache-dir",
       "history.cache",
       "SIMRT_CACHE_DIR",
       T::Path,
       &Config::cache_directory,
       {},
       "What can be computed again: parsed units, precompiled headers."},
      {"ctest",
       "tests.ctest",
       "SIMRT_CTEST",
       T::Boolean,
       &Config::ctest,
       {},
       "Run the tests that CTest knows.",
       true},
      {"meson",
       "tests.meson",
       "SIMRT_MESON",
       T::Boolean,
       &Config::meson,
       {},
       "Run the tests that Meson knows."},
      {"split-cases",
       "tests.split_cases",
       "SIMRT_SPLIT_CASES",
       T::Boolean,
       &Config::split_cases,
       {},
       "Take each GoogleTest, Catch2 or doctest case as a test of its own."},
      {"parallel-cases",
       "tests.parallel_cases",
       "SIMRT_PARALLEL_CASES",
       T::Boolean,
       &Config::parallel_cases,
       {},
       "Also run cases of one program at once, though the program itself would not (they may share files).",
       true},
      {"timeout",
       "tests.timeout_seconds",
       "SIMRT_TIMEOUT",
       T::Seconds,
       &Config::timeout_seconds,
       {},
       "Time limit of one test, unless the test has its own; 0 = none.",
       true},
      {"jobs",
       "tests.jobs",
       "SIMRT_JOBS",
       T::Count,
       &Config::jobs,
       {},
       "Tests run at once; 0 = one per processor.",
       true},
      {"exclude-tests",
       "tests.exclude",
       "SIMRT_EXCLUDE_TESTS",
       T::Globs,
       &Config::exclude_tests,
       {},
       "Globs over the names of tests that are neither run nor selected.",
       true},
      {"exclude-sources",
       "analysis.exclude",
       "SIMRT_EXCLUDE_SOURCES",
       T::Globs,
       &Config::exclude_sources,
       {},
       "Globs over sources that are not analysed (vendored or generated code); changes to them follow the "
       "rules.",
       true},
      {"source-files",
       "analysis.headers",
       "SIMRT_SOURCE_FILES",
       T::Globs,
       &Config::source_files,
       {},
       "Globs of C and C++ headers and sources: one that no unit compiles or includes cannot matter."},
      {"technique",
       "select.technique",
       "SIMRT_TECHNIQUE",
       T::Choice,
       &Config::technique,
       {"simrt", "simrt-n", "rtsc", "rta"},
       "Which tests are selected: simrt, simrt-n, rtsc or rta."},
      {"rank",
       "select.rank",
       "SIMRT_RANK",
       T::Choice,
       &Config::rank,
       {"simrt", "abc", "random"},
       "How they are ranked: simrt (impacted pairs), abc (additional block coverage) or random."},
      {"order",
       "select.order",
       "SIMRT_ORDER",
       T::Choice,
       &Config::order,
       {"cost", "pairs"},
       "cost: new impacted pairs per second first; pairs: most new pairs first (the paper's order).",
       true},
      {"budget",
       "select.budget_seconds",
       "SIMRT_BUDGET",
       T::Seconds,
       &Config::budget_seconds,
       {},
       "Stop the list when the recorded durations add up to this; 0 = no limit."},
      {"seed",
       "select.seed",
       "SIMRT_SEED",
       T::Count,
       &Config::seed,
       {},
       "Decides ties and the random ranking."},
  };
}

Result<Value> parse_boolean(std::string_view text) {
  for (std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return Value(true);
  }
  for (std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return Value(false);
  }
  return fail(ErrorCode::Usage, fmt::format("expected true or false, found \"{}\"", text));
}

Result<Value> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // TOML's integers end at 2^63 - 1; a value that the file could not hold is refused everywhere.
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value <= static_cast<std::uint64_t>(INT64_MAX)) return Value(value);
  return fail(ErrorCode::Usage, fmt::format("expected {}, found \"{}\"", type_text(OptionType::Count), text));
}

Result<Value> parse_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : -1;
  if (error == std::errc() && factor > 0 && std::isfinite(value) && value >= 0) return Value(value * factor);
  return fail(ErrorCode::Usage,
              fmt::format("expected {}, found \"{}\"", type_text(OptionType::Seconds), text));
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

Status check_choice(const Option& option, const std::string& text) {
  const std::vector<std::string> choices(option.choices.begin(), option.choices.end());
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
  const std::string meant = nearest_spelling(text, choices);
  return fail(ErrorCode::Usage, fmt::format("\"{}\" is none of {}", text, fmt::join(choices, ", ")),
              meant.empty() ? "" : fmt::format("did you mean \"{}\"?", meant));
}

}  // namespace

const std::vector<Option>& options() {
  static const std::vector<Option> table = make_options();
  return table;
}

const Option* option_by_name(std::string_view name) {
  auto it = std::find_if(options().begin(), options().end(), [&](const Option& o) { return o.name == name; });
  return it == options().end() ? nullptr : &*it;
}

const Option* option_by_key(std::string_view key) {
  auto it = std::find_if(options().begin(), options().end(), [&](const Option& o) { return o.key == key; });
  return it == options().end() ? nullptr : &*it;
}

Result<Value> parse_value(const Option& option, std::string_view text) {
  switch (option.type) {
    case OptionType::Path:
    case OptionType::Choice:
      return check_value(option, std::string(text));
    case OptionType::Boolean:
      return parse_boolean(text);
    case OptionType::Count:
      return parse_count(text);
    case OptionType::Seconds:
      return parse_seconds(text);
    case OptionType::Globs:
      return check_value(option, split_commas(text));
  }
  return fail(ErrorCode::Internal, "option without a type");
}

Result<Value> check_value(const Option& option, Value value) {
  if (option.type == OptionType::Choice) {
    if (Status status = check_choice(option, std::get<std::string>(value)); !status)
      return fail(status.error());
  } else if (option.type == OptionType::Path && std::get<std::string>(value).empty()) {
    return fail(ErrorCode::Usage, "an empty path");
  } else if (option.type == OptionType::Globs) {
    for (const std::string& pattern : std::get<std::vector<std::string>>(value)) {
      const std::string problem = glob_problem(pattern);
      if (!problem.empty())
        return fail(ErrorCode::Usage, fmt::format("pattern \"{}\": {}", pattern, problem));
    }
  }
  return value;
}

void set_value(Config& config, const Option& option, Value value) {
  std::visit(
      [&](auto member) {
        using Type = std::remove_reference_t<decltype(config.*member)>;
        config.*member = std::get<Type>(std::move(value));
      },
      option.field);
}

Value get_value(const Config& config, const Option& option) {
  return std::visit([&](auto member) { return Value(config.*member); }, option.field);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string value_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return std::to_string(*count);
  if (const auto* seconds = std::get_if<double>(&value)) return fmt::format("{}", *seconds);
  std::vector<std::string> parts;
  for (const std::string& part : std::get<std::vector<std::string>>(value)) parts.push_back(quoted(part));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string_view type_text(OptionType type) {
  switch (type) {
    case OptionType::Path:
      return "a path in quotes";
    case OptionType::Choice:
      return "a word in quotes";
    case OptionType::Boolean:
      return "true or false";
    case OptionType::Count:
      return "a whole number that is not negative";
    case OptionType::Seconds:
      return "a number of seconds, or a text such as \"90s\", \"15m\", \"2h\"";
    case OptionType::Globs:
      break;
  }
  return "a list of texts";
}

}  // namespace simrt::config
