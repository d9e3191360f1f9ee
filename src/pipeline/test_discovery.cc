#include "pipeline/test_discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "config/glob.h"
#include "pipeline/project/discover.h"
#include "support/files.h"
#include "testing/discover.h"

namespace simrt::pipeline {
namespace {

/// A path below the instrumented directory, seen from `build`.
std::string moved(const std::string& path, const std::string& instrumented, const std::string& build) {
  const auto below = relative_to(path, instrumented);
  if (!below) return path;
  return below->empty() ? build : build + "/" + *below;
}

testing::DiscoverOptions discover_options(const config::Config& config, const std::string& build) {
  testing::DiscoverOptions options;
  if (config.ctest && is_file(build + "/CTestTestfile.cmake")) options.ctest_directory = build;
  if (config.meson && is_directory(build + "/meson-info")) options.meson_directory = build;
  for (const config::TestCommand& command : config.commands) {
    std::vector<std::string> argv = command.command;
    if (!argv.empty()) argv.front() = moved(argv.front(), config.instrumented_directory, build);
    options.plain.push_back({command.name,
                             std::move(argv),
                             moved(command.directory, config.instrumented_directory, build),
                             command.environment,
                             command.timeout_seconds,
                             {}});
  }
  options.directory = build;
  options.expand = config.split_cases;
  options.parallel_cases = config.parallel_cases;
  return options;
}

// As the project's own build system has it.
std::string how_to_build_for_checking(const config::Config& config, const std::string& build) {
  const auto findings = project::discover_project(config.root);
  if (!findings) return "build there with SIMRT_BUILD=check and simrt-clang++ or simrt-g++";
  return project::instrumented_build_command(*findings, build, true);
}

}  // namespace

bool is_excluded(const config::Config& config, const std::string& test) {
  return std::any_of(config.exclude_tests.begin(), config.exclude_tests.end(),
                     [&](const std::string& glob) { return config::name_match(glob, test); });
}

Result<testing::Discovery> discover_build(const config::Config& config, const std::string& build,
                                          const std::string& hint, const InterruptToken* interrupt) {
  const testing::DiscoverOptions options = discover_options(config, build);
  if (options.ctest_directory.empty() && options.meson_directory.empty() && options.plain.empty())
    return fail(ErrorCode::Project, fmt::format("no tests found in {}", build), hint);
  auto found = testing::discover_tests(options, interrupt);
  if (!found) return fail(found.error());
  std::erase_if(found->tests, [&](const TestCase& test) { return is_excluded(config, test.name); });
  return found;
}

Result<std::vector<TestCase>> tests_of_build(const config::Config& config, const std::string& build,
                                             const std::string& hint, std::vector<std::string>& warnings,
                                             const InterruptToken* interrupt) {
  auto found = discover_build(config, build, hint, interrupt);
  if (!found) return fail(found.error());
  warnings.insert(warnings.end(), found->warnings.begin(), found->warnings.end());
  return std::move(found->tests);
}

Result<std::vector<TestCase>> tests_of_check_build(const config::Config& config, const std::string& build,
                                                   std::vector<std::string>& warnings,
                                                   const InterruptToken* interrupt) {
  std::error_code error;
  if (!std::filesystem::is_directory(build, error))
    return fail(ErrorCode::Project, fmt::format("there is no build for checking at {}", build),
                how_to_build_for_checking(config, build));
  auto tests = tests_of_build(config, build, {}, warnings, interrupt);
  if (tests || !tests.error().hint.empty()) return tests;
  return fail(tests.error().code, tests.error().message, how_to_build_for_checking(config, build));
}

Result<std::vector<TestCase>> tests_named(std::vector<TestCase> tests, const std::vector<std::string>& globs,
                                          const std::string& hint) {
  std::erase_if(tests, [&](const TestCase& test) {
    return !globs.empty() && std::none_of(globs.begin(), globs.end(), [&](const std::string& glob) {
      return config::name_match(glob, test.name);
    });
  });
  if (tests.empty()) return fail(ErrorCode::Project, "no test of the check build has such a name", hint);
  return tests;
}

}  // namespace simrt::pipeline
