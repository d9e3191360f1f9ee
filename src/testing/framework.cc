// See framework.h. Syntax checked against GoogleTest 1.12, Catch2 2.13 and 3, doctest 2.4.9.
#include "testing/framework.h"

#include <algorithm>
#include <array>

#include "support/files.h"
#include "testing/elf_image.h"

namespace simrt::testing {
namespace {

/// Two texts that occur together in programs of one framework. Each is stored in two halves, so that this
/// very program, which knows them all, is not taken for a test program.
struct Marker {
  TestMain main;
  std::array<std::string_view, 2> first;
  std::array<std::string_view, 2> second;
};

constexpr std::array<Marker, 4> kMarkers = {{
    {TestMain::GoogleTest, {"gtest_", "list_tests"}, {"This program contains tests ", "written using"}},
    {TestMain::Catch2V2, {"list-test-", "names-only"}, {"please see the ", "project docs"}},
    {TestMain::Catch2V3, {"allow-running-", "no-tests"}, {"please see the ", "project docs"}},
    {TestMain::Doctest, {"list-test-", "cases"}, {"[doc", "test]"}},
}};

std::string joined(const std::array<std::string_view, 2>& halves) {
  return std::string(halves[0]) + std::string(halves[1]);
}

TestMain detect_in(const std::string& path) {
  const auto bytes = read_loaded_part(path);
  if (!bytes) return TestMain::None;
  for (const Marker& marker : kMarkers) {
    if (bytes->find(joined(marker.second)) != std::string::npos &&
        bytes->find(joined(marker.first)) != std::string::npos) {
      return marker.main;
    }
  }
  return TestMain::None;
}

/// Frameworks that come as shared libraries of the system, recognised by name.
TestMain detect_in_names(const std::string& program) {
  const auto bytes = read_loaded_part(program);
  const auto image = bytes ? parse_elf(*bytes) : std::nullopt;
  if (!image) return TestMain::None;
  for (const std::string& library : image->needed) {
    if (library.starts_with("libgtest") || library.starts_with("libgmock")) return TestMain::GoogleTest;
    if (library.starts_with("libCatch2")) return TestMain::Catch2V3;
  }
  return TestMain::None;
}

/// Puts a backslash before each of `special`, and before the first character when it is one of `leading`.
std::string escape(std::string_view name, std::string_view special, std::string_view leading = {}) {
  std::string escaped;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool at_start = i == 0 && leading.find(name[i]) != std::string_view::npos;
    if (at_start || special.find(name[i]) != std::string_view::npos) escaped += '\\';
    escaped += name[i];
  }
  return escaped;
}

/// Removes backslashes; nothing when a character of `active` stands without one.
std::optional<std::string> unescape(std::string_view text, std::string_view active) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      plain += text[++i];
    } else if (active.find(text[i]) != std::string_view::npos) {
      return std::nullopt;
    } else {
      plain += text[i];
    }
  }
  return plain.empty() ? std::nullopt : std::optional(plain);
}

CaseFilter split_gtest(const std::vector<std::string>& command) {
  constexpr std::string_view kFlag = "--gtest_filter=";
  CaseFilter result;
  for (const std::string& argument : command) {
    if (argument.starts_with(kFlag)) {
      result.chosen = {argument};  // the last one counts
    } else {
      result.base.push_back(argument);
    }
  }
  if (result.chosen.empty()) return result;
  const std::string pattern = result.chosen.front().substr(kFlag.size());
  if (pattern == "*") {
    result.chosen.clear();
  } else if (!pattern.empty() && pattern.find_first_of("*?:-") == std::string::npos) {
    result.exact = pattern;
  }
  return result;
}

/// Catch2 options that take the next argument as their value.
bool takes_value(const std::string& option) {
  static constexpr std::array<std::string_view, 32> kOptions = {"-r",
                                                                "--reporter",
                                                                "-o",
                                                                "--out",
                                                                "-n",
                                                                "--name",
                                                                "-x",
                                                                "--abortx",
                                                                "-w",
                                                                "--warn",
                                                                "-d",
                                                                "--durations",
                                                                "-D",
                                                                "--min-duration",
                                                                "-f",
                                                                "--input-file",
                                                                "-c",
                                                                "--section",
                                                                "-v",
                                                                "--verbosity",
                                                                "--order",
                                                                "--rng-seed",
                                                                "--use-colour",
                                                                "--colour-mode",
                                                                "--wait-for-keypress",
                                                                "--benchmark-samples",
                                                                "--benchmark-resamples",
                                                                "--benchmark-confidence-interval",
                                                                "--benchmark-warmup-time",
                                                                "--shard-count",
                                                                "--shard-index",
                                                                "-#="};
  return std::find(kOptions.begin(), kOptions.end(), option) != kOptions.end();
}

CaseFilter split_catch(const std::vector<std::string>& command) {
  CaseFilter result;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& argument = command[i];
    const bool file = argument == "-f" || argument == "--input-file";
    if (i == 0 || (!file && argument.starts_with('-'))) {
      result.base.push_back(argument);
      if (i > 0 && takes_value(argument) && i + 1 < command.size()) result.base.push_back(command[++i]);
    } else {
      result.chosen.push_back(argument);
      if (file && i + 1 < command.size()) result.chosen.push_back(command[++i]);
    }
  }
  if (result.chosen.size() == 1 && !result.chosen.front().starts_with("exclude:")) {
    result.exact = unescape(result.chosen.front(), "*,[]~\"");
  }
  return result;
}

CaseFilter split_doctest(const std::vector<std::string>& command) {
  CaseFilter result;
  for (const std::string& argument : command) {
    std::string_view option = argument;
    while (option.starts_with('-')) option.remove_prefix(1);
    if (option.starts_with("dt-")) option.remove_prefix(3);
    const bool by_case = option.starts_with("tc=") || option.starts_with("test-case=");
    if (argument.starts_with('-') && by_case) {
      result.chosen.push_back(argument);
      result.exact = unescape(option.substr(option.find('=') + 1), "*?,\"");
    } else {
      result.base.push_back(argument);
    }
  }
  if (result.chosen.size() != 1) result.exact.reset();
  return result;
}

std::string gtest_pattern(std::string_view name) {
  std::string pattern(name);
  for (char& c : pattern) {
    if (c == ':' || c == '*' || c == '-') c = '?';
  }
  return pattern;
}

bool gtest_disabled(std::string_view name) {
  return name.starts_with("DISABLED_") || name.find(".DISABLED_") != std::string_view::npos ||
         name.find("/DISABLED_") != std::string_view::npos;
}

}  // namespace

Framework framework_of(TestMain main) {
  switch (main) {
    case TestMain::GoogleTest:
      return Framework::GoogleTest;
    case TestMain::Catch2V2:
    case TestMain::Catch2V3:
      return Framework::Catch2;
    case TestMain::Doctest:
      return Framework::Doctest;
    case TestMain::None:
      break;
  }
  return Framework::Plain;
}

TestMain detect_framework(const std::string& program, const std::string& library_path) {
  if (const TestMain main = detect_in(program); main != TestMain::None) return main;
  if (const TestMain main = detect_in_names(program); main != TestMain::None) return main;
  for (const std::string& library : find_libraries(program, library_path)) {
    if (const TestMain main = detect_in(library); main != TestMain::None) return main;
  }
  return TestMain::None;
}

CaseFilter split_filter(Framework framework, const std::vector<std::string>& command) {
  switch (framework) {
    case Framework::GoogleTest:
      return split_gtest(command);
    case Framework::Catch2:
      return split_catch(command);
    case Framework::Doctest:
      return split_doctest(command);
    default:
      return {command, {}, std::nullopt};
  }
}

std::vector<std::string> select_case(Framework framework, std::string_view name) {
  switch (framework) {
    case Framework::GoogleTest: {
      std::vector<std::string> arguments = {"--gtest_filter=" + gtest_pattern(name)};
      if (gtest_disabled(name)) arguments.emplace_back("--gtest_also_run_disabled_tests");
      return arguments;
    }
    case Framework::Catch2:
      // Not even quotes help against the exclusion prefix.
      if (name.starts_with("exclude:")) return {"*" + escape(name.substr(1), "\\,[]\"")};
      // The first character could make the argument an option, an exclusion or a file tag.
      return {escape(name, "\\,[]\"", "-~#*")};
    case Framework::Doctest:
      return {"--dt-test-case=" + escape(name, "\\,"), "--dt-case-sensitive=true"};
    default:
      return {};
  }
}

std::vector<std::string> command_line(const TestCase& test) {
  std::vector<std::string> command = test.command;
  if (command.empty() || test.selector.empty()) return command;
  for (std::string& argument : select_case(test.framework, test.selector))
    command.push_back(std::move(argument));
  return command;
}

}  // namespace simrt::testing
