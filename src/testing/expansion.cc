// See expansion.h.
#include "testing/expansion.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "support/files.h"
#include "support/subprocess.h"
#include "testing/case_listing.h"

namespace simrt::testing {
namespace {

std::string variable_of(const TestCase& test, const std::string& name) {
  if (const auto own = test.environment.find(name); own != test.environment.end()) return own->second;
  const char* inherited = std::getenv(name.c_str());
  return inherited != nullptr ? inherited : "";
}

/// Splitting the program would change what these say about it.
bool judges_whole_output(const TestCase& test) {
  return test.will_fail || !test.rules.pass_patterns.empty() || !test.rules.fail_patterns.empty();
}

/// A GoogleTest behind a launcher (an emulator, a wrapper script) shows by its filter.
bool has_gtest_filter(const TestCase& test) {
  for (const std::string& argument : test.command) {
    if (argument.starts_with("--gtest_filter=")) return true;
  }
  return false;
}

TestCase single_case(const TestCase& test, Framework framework, const CaseFilter& filter,
                     std::string selector) {
  TestCase result = test;
  result.framework = framework;
  result.command = filter.base;
  result.selector = std::move(selector);
  return result;
}

Expansion whole(const TestCase& test, std::string warning = {}) { return {{test}, std::move(warning)}; }

}  // namespace

TestMain ProgramFrameworks::of(const TestCase& test) {
  const std::string here = test.directory.empty() ? std::filesystem::current_path().string() : test.directory;
  const std::string found = find_program(test.command.front(), here, variable_of(test, "PATH"));
  if (found.empty()) return TestMain::None;
  const auto key = std::pair(absolute_path(found, here), variable_of(test, "LD_LIBRARY_PATH"));
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  const TestMain main = detect_framework(key.first, key.second);
  const std::scoped_lock lock(mutex_);
  return known_.emplace(key, main).first->second;
}

Expansion expand_test(const TestCase& test, ProgramFrameworks& frameworks, const ExpansionOptions& options,
                      const InterruptToken* interrupt) {
  if (test.command.empty()) return whole(test);
  TestMain main = frameworks.of(test);
  if (main == TestMain::None && has_gtest_filter(test)) main = TestMain::GoogleTest;
  const Framework framework = framework_of(main);
  CaseFilter filter = split_filter(framework, test.command);
  if (filter.exact) return {{single_case(test, framework, filter, *filter.exact)}, {}};
  if (main == TestMain::None || test.disabled || judges_whole_output(test)) return whole(test);

  const ListingRequest request{main,
                               filter,
                               test.directory,
                               test.environment,
                               test.rules.unset_environment,
                               options.listing_timeout_seconds};
  const auto cases = list_cases(request, interrupt);
  if (!cases) {
    return whole(test,
                 fmt::format("the test {} is recorded as a whole: {}", test.name, cases.error().message));
  }
  if (cases->empty()) return whole(test, fmt::format("the test {} has no cases", test.name));
  if (cases->size() == 1 && !filter.chosen.empty()) {
    return {{single_case(test, framework, filter, cases->front().name)}, {}};
  }
  Expansion expansion;
  for (const ListedCase& listed : *cases) {
    TestCase expanded = single_case(test, framework, filter, listed.name);
    expanded.name = test.name + ":" + listed.name;
    expanded.id = test_id(expanded.name);
    expanded.disabled = listed.disabled;
    // No project can have a lock of this name: neither CMake nor Meson lets a test's name hold a line break.
    if (!options.parallel_cases) expanded.rules.resource_locks.push_back("cases of\n" + test.name);
    expansion.tests.push_back(std::move(expanded));
  }
  return expansion;
}

}  // namespace simrt::testing
