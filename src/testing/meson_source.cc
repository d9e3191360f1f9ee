// See meson_source.h. Meaning of fields and protocols: Meson manual, "IDE integration" and "Unit tests".
#include "testing/meson_source.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "support/files.h"

namespace simrt::testing {
namespace {

using Json = nlohmann::json;

constexpr int kSkipStatus = 77;  // the GNU convention that Meson follows

TestCase read_test(const Json& json, const std::string& directory) {
  TestCase test;
  test.name = json.at("name").get<std::string>();
  test.command = json.at("cmd").get<std::vector<std::string>>();
  test.environment = json.value("env", std::map<std::string, std::string>());
  test.labels = json.value("suite", std::vector<std::string>());
  const Json workdir = json.value("workdir", Json());
  test.directory = workdir.is_string() ? workdir.get<std::string>() : directory;
  test.timeout_seconds = json.value("timeout", 0.0);
  test.rules.run_serial = !json.value("is_parallel", true);
  const std::string protocol = json.value("protocol", "exitcode");
  if (protocol == "exitcode") test.skip_codes = {kSkipStatus};
  // A TAP program may well exit with 0 after a failure; an expected one is marked TODO.
  if (protocol == "tap") test.rules.fail_patterns = {"(^|\n)not ok([^\n#]*)(\n|$)", "(^|\n)Bail out!"};
  return test;
}

std::string with_suites(const TestCase& test) {
  std::string name;
  for (const std::string& suite : test.labels) name += (name.empty() ? "" : "+") + suite;
  return name.empty() ? test.name : name + " / " + test.name;
}

}  // namespace

Result<std::vector<TestCase>> parse_meson(std::string_view json, const std::string& directory) {
  const Json document = Json::parse(json, nullptr, false);
  std::vector<TestCase> tests;
  try {
    if (!document.is_array()) return fail(ErrorCode::Project, "cannot understand Meson's list of tests");
    for (const Json& entry : document) tests.push_back(read_test(entry, directory));
  } catch (const Json::exception& exception) {
    return fail(ErrorCode::Project,
                fmt::format("cannot understand Meson's list of tests: {}", exception.what()),
                "simrt needs Meson 0.56 or later");
  }
  std::map<std::string, int> uses;
  for (const TestCase& test : tests) ++uses[test.name];
  for (TestCase& test : tests) {
    if (uses[test.name] > 1) test.name = with_suites(test);
    test.id = test_id(test.name);
  }
  return tests;
}

Result<std::vector<TestCase>> list_meson(const std::string& directory) {
  const std::string file = directory + "/meson-info/intro-tests.json";
  if (!is_file(file)) {
    return fail(ErrorCode::Project, fmt::format("{} is not a Meson build directory", directory),
                "run `meson setup` for it");
  }
  const auto json = read_file(file);
  if (!json) return fail(json.error());
  return parse_meson(*json, directory);
}

}  // namespace simrt::testing
