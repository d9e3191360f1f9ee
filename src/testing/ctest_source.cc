// See ctest_source.h. Property names and their meaning: cmake-properties(7), "Properties on Tests".
#include "testing/ctest_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/subprocess.h"

namespace simrt::testing {
namespace {

using Json = nlohmann::json;

std::vector<std::string> texts(const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

/// Carries out ENVIRONMENT and ENVIRONMENT_MODIFICATION of one test.
class EnvironmentEdit {
 public:
  explicit EnvironmentEdit(const EnvironmentLookup& inherited) : inherited_(inherited) {}

  void set(const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) return;
    base_[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }

  /// "NAME=operation:value".
  void modify(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::size_t colon = text.find(':', equals);
    if (equals == std::string::npos || colon == std::string::npos) return;
    const std::string name = text.substr(0, equals);
    const std::string operation = text.substr(equals + 1, colon - equals - 1);
    const std::string value = text.substr(colon + 1);
    const std::optional<std::string> before = current(name);
    if (operation == "reset") {
      modified_.erase(name);
    } else if (operation == "unset") {
      modified_[name] = std::nullopt;
    } else if (operation == "set") {
      modified_[name] = value;
    } else if (operation == "string_append") {
      modified_[name] = before.value_or("") + value;
    } else if (operation == "string_prepend") {
      modified_[name] = value + before.value_or("");
    } else if (operation == "path_list_append" || operation == "cmake_list_append") {
      modified_[name] = join(before, value, operation.front() == 'p' ? ":" : ";");
    } else if (operation == "path_list_prepend" || operation == "cmake_list_prepend") {
      modified_[name] = join(value, before.value_or(""), operation.front() == 'p' ? ":" : ";");
    }
  }

  void apply_to(TestCase& test) const {
    test.environment = base_;
    for (const auto& [name, value] : modified_) {
      if (value) {
        test.environment[name] = *value;
      } else {
        test.environment.erase(name);
        test.rules.unset_environment.push_back(name);
      }
    }
  }

 private:
  std::optional<std::string> current(const std::string& name) const {
    if (const auto found = modified_.find(name); found != modified_.end()) return found->second;
    if (const auto found = base_.find(name); found != base_.end()) return found->second;
    return inherited_(name);
  }
  static std::string join(const std::optional<std::string>& first, const std::string& second,
                          const char* separator) {
    if (!first || first->empty()) return second;
    return second.empty() ? *first : *first + separator + second;
  }

  const EnvironmentLookup& inherited_;
  std::map<std::string, std::string> base_;
  std::map<std::string, std::optional<std::string>> modified_;
};

void read_flow_property(TestRules& rules, const std::string& name, const Json& value) {
  if (name == "DEPENDS") rules.depends = texts(value);
  if (name == "FIXTURES_SETUP") rules.fixtures_setup = texts(value);
  if (name == "FIXTURES_REQUIRED") rules.fixtures_required = texts(value);
  if (name == "FIXTURES_CLEANUP") rules.fixtures_cleanup = texts(value);
  if (name == "RESOURCE_LOCK") rules.resource_locks = texts(value);
  if (name == "REQUIRED_FILES") rules.required_files = texts(value);
  if (name == "RUN_SERIAL") rules.run_serial = value.get<bool>();
  if (name == "PROCESSORS") rules.processors = std::max<std::uint32_t>(1, value.get<std::uint32_t>());
  if (name == "PASS_REGULAR_EXPRESSION") rules.pass_patterns = texts(value);
  if (name == "FAIL_REGULAR_EXPRESSION") rules.fail_patterns = texts(value);
  if (name == "SKIP_REGULAR_EXPRESSION") rules.skip_patterns = texts(value);
}

void read_property(TestCase& test, EnvironmentEdit& environment, const std::string& name, const Json& value) {
  if (name == "WORKING_DIRECTORY") test.directory = value.get<std::string>();
  if (name == "TIMEOUT") test.timeout_seconds = value.get<double>();
  if (name == "DISABLED") test.disabled = value.get<bool>();
  if (name == "WILL_FAIL") test.will_fail = value.get<bool>();
  if (name == "SKIP_RETURN_CODE") test.skip_codes = {value.get<int>()};
  if (name == "LABELS") test.labels = texts(value);
  if (name == "ENVIRONMENT") {
    for (const std::string& assignment : texts(value)) environment.set(assignment);
  }
  read_flow_property(test.rules, name, value);
}

TestCase read_test(const Json& json, const EnvironmentLookup& inherited) {
  TestCase test;
  test.name = json.at("name").get<std::string>();
  test.ctest = test.name;
  test.id = test_id(test.name);
  test.framework = Framework::CTest;
  if (json.contains("command")) test.command = json.at("command").get<std::vector<std::string>>();
  EnvironmentEdit environment(inherited);
  const Json properties = json.value("properties", Json::array());
  for (const Json& property : properties) {
    read_property(test, environment, property.at("name").get<std::string>(), property.at("value"));
  }
  for (const Json& property : properties) {  // ENVIRONMENT comes first, whatever the order of properties
    if (property.at("name") != "ENVIRONMENT_MODIFICATION") continue;
    for (const std::string& change : texts(property.at("value"))) environment.modify(change);
  }
  environment.apply_to(test);
  return test;
}

/// The program that a placeholder stands for: GoogleTest's "X_NOT_BUILT", Catch2's and doctest's
/// "X_NOT_BUILT-b12d07c". Empty for other tests.
std::string not_built(const TestCase& test) {
  constexpr std::string_view kPlaceholder = "_NOT_BUILT";
  const std::size_t at = test.name.rfind(kPlaceholder);
  if (!test.command.empty() || at == std::string::npos) return {};
  const std::string_view rest = std::string_view(test.name).substr(at + kPlaceholder.size());
  const bool hash = rest.size() > 1 && rest.front() == '-' &&
                    rest.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  return rest.empty() || hash ? test.name.substr(0, at) : std::string();
}

}  // namespace

Result<CTestListing> parse_ctest(std::string_view json, const EnvironmentLookup& inherited) {
  const Json document = Json::parse(json, nullptr, false);
  CTestListing listing;
  try {
    for (const Json& entry : document.at("tests")) {
      TestCase test = read_test(entry, inherited);
      if (std::string program = not_built(test); !program.empty()) {
        listing.not_built.push_back(std::move(program));
      } else {
        listing.tests.push_back(std::move(test));
      }
    }
  } catch (const Json::exception& exception) {
    return fail(ErrorCode::Project,
                fmt::format("cannot understand CTest's list of tests: {}", exception.what()),
                "simrt needs CTest 3.14 or later");
  }
  return listing;
}

Result<CTestListing> list_ctest(const std::string& program, const std::string& directory,
                                const std::string& configuration, const InterruptToken* interrupt) {
  if (!is_file(directory + "/CTestTestfile.cmake")) {
    return fail(
        ErrorCode::Project, fmt::format("{} is not a build directory with tests", directory),
        "configure the project with CMake; its CMakeLists.txt must call enable_testing() or include(CTest)");
  }
  ProcessSpec spec;
  spec.command = {program, "--show-only=json-v1"};
  if (!configuration.empty()) {
    spec.command.emplace_back("-C");
    spec.command.push_back(configuration);
  }
  spec.directory = directory;
  spec.timeout_seconds = 300;
  spec.output_limit = std::size_t{1} << 30;
  spec.separate_errors = true;
  const auto process = run_process(spec, interrupt);
  if (!process) return fail(process.error());
  if (process->end == ProcessResult::End::Interrupted) return fail(ErrorCode::Interrupted, "interrupted");
  if (process->end == ProcessResult::End::NotStarted) {
    return fail(ErrorCode::Project, process->notes.empty() ? "cannot run ctest" : process->notes.front(),
                "install CMake (apt-get install cmake)");
  }
  if (!process->succeeded()) {
    return fail(ErrorCode::Project,
                fmt::format("ctest cannot list the tests of {}: {}", directory, process->errors),
                "build the project; test lists that the build makes are incomplete before");
  }
  return parse_ctest(process->output, [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
}

}  // namespace simrt::testing
