// See discover.h.
#include "testing/discover.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "support/files.h"
#include "support/task_pool.h"
#include "testing/ctest_source.h"
#include "testing/expansion.h"
#include "testing/meson_source.h"

namespace simrt::testing {
namespace {

TestCase from_plain(const PlainTest& plain, const std::string& base) {
  TestCase test;
  test.command = plain.command;
  // A relative program is meant from the base, wherever the test then runs.
  std::string& program = test.command.front();
  if (program.find('/') != std::string::npos) program = absolute_path(program, base);
  test.name = plain.name.empty() ? std::filesystem::path(program).filename().string() : plain.name;
  test.id = test_id(test.name);
  test.directory = absolute_path(plain.directory, base);
  test.environment = plain.environment;
  test.timeout_seconds = plain.timeout_seconds;
  test.labels = plain.labels;
  return test;
}

/// All tests of all sources, not yet expanded.
Result<Discovery> collect(const DiscoverOptions& options, const InterruptToken* interrupt) {
  Discovery found;
  if (!options.ctest_directory.empty()) {
    auto listing =
        list_ctest(options.ctest_program, options.ctest_directory, options.ctest_configuration, interrupt);
    if (!listing) return fail(listing.error());
    found.complete = listing->not_built.empty();
    for (const std::string& target : listing->not_built) {
      found.warnings.push_back(
          fmt::format("the test program {} is not built: its tests are unknown", target));
    }
    for (TestCase& test : listing->tests) {
      if (test.command.empty() && !test.disabled) {
        found.warnings.push_back(fmt::format("the program of the test {} does not exist", test.name));
        found.complete = false;
      }
      found.tests.push_back(std::move(test));
    }
  }
  if (!options.meson_directory.empty()) {
    auto tests = list_meson(options.meson_directory);
    if (!tests) return fail(tests.error());
    for (TestCase& test : *tests) found.tests.push_back(std::move(test));
  }
  const std::string base = absolute_path(options.directory, std::filesystem::current_path().string());
  for (const PlainTest& plain : options.plain) {
    if (plain.command.empty() || plain.command.front().empty()) {
      return fail(ErrorCode::Project,
                  fmt::format("the test \"{}\" of the configuration has no command", plain.name));
    }
    found.tests.push_back(from_plain(plain, base));
  }
  return found;
}

/// Two tests of one name would share their history.
void make_names_unique(Discovery& found) {
  std::set<std::string> names;
  for (TestCase& test : found.tests) {
    if (names.insert(test.name).second) continue;
    std::string name;
    for (int number = 2; name.empty() || !names.insert(name).second; ++number) {
      name = fmt::format("{}#{}", test.name, number);
    }
    found.warnings.push_back(fmt::format("two tests are named {}; the second is called {}", test.name, name));
    test.name = name;
    test.id = test_id(name);
  }
}

}  // namespace

Result<Discovery> discover_tests(const DiscoverOptions& options, const InterruptToken* interrupt) {
  if (options.ctest_directory.empty() && options.meson_directory.empty() && options.plain.empty()) {
    return fail(ErrorCode::Project, "the configuration names no tests",
                "name a CMake or Meson build directory or test commands in .simrt.toml");
  }
  auto collected = collect(options, interrupt);
  if (!collected) return collected;
  // Also before expansion: cases take their test's name as a prefix.
  make_names_unique(*collected);
  if (options.expand) {
    ProgramFrameworks frameworks;
    std::vector<TestCase> whole = std::move(collected->tests);
    collected->tests.clear();
    auto expansions = map_tasks(
        whole.size(), options.jobs,
        [&](std::size_t i) {
          return expand_test(whole[i], frameworks, {options.listing_timeout_seconds, options.parallel_cases},
                             interrupt);
        },
        interrupt);
    if (interrupt != nullptr && interrupt->requested()) return fail(ErrorCode::Interrupted, "interrupted");
    for (auto& expansion : expansions) {
      if (!expansion->warning.empty()) {
        collected->warnings.push_back(std::move(expansion->warning));
        collected->complete = false;
      }
      for (TestCase& test : expansion->tests) collected->tests.push_back(std::move(test));
    }
    make_names_unique(*collected);
  }
  if (collected->tests.empty()) {
    return fail(ErrorCode::Project,
                collected->warnings.empty() ? "the project has no tests" : collected->warnings.front(),
                "build the test programs first");
  }
  return collected;
}

}  // namespace simrt::testing
