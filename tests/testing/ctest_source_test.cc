#include "testing/ctest_source.h"

#include <gmock/gmock.h>

#include "support/files.h"

namespace simrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::optional<std::string> inherited(const std::string& name) {
  if (name == "PATH") return "/usr/bin";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

TestCase parse_one(const std::string& properties) {
  const auto listing = parse_ctest(
      R"({"tests": [{"name": "t", "command": ["/p", "a b"], "properties": [)" + properties + "]}]}",
      inherited);
  return listing.value().tests.at(0);
}

TEST(ParseCTest, ReadsEveryProperty) {
  const TestCase test = parse_one(R"(
    {"name": "WORKING_DIRECTORY", "value": "/w"}, {"name": "TIMEOUT", "value": 5.5},
    {"name": "WILL_FAIL", "value": true}, {"name": "DISABLED", "value": true},
    {"name": "SKIP_RETURN_CODE", "value": 77}, {"name": "LABELS", "value": ["x", "y"]},
    {"name": "ENVIRONMENT", "value": ["A=1", "B=x=y z"]}, {"name": "RUN_SERIAL", "value": true},
    {"name": "RESOURCE_LOCK", "value": ["db"]}, {"name": "PROCESSORS", "value": 3},
    {"name": "FIXTURES_SETUP", "value": ["s"]}, {"name": "FIXTURES_REQUIRED", "value": ["r"]},
    {"name": "FIXTURES_CLEANUP", "value": ["c"]}, {"name": "DEPENDS", "value": ["d"]},
    {"name": "REQUIRED_FILES", "value": ["f"]}, {"name": "PASS_REGULAR_EXPRESSION", "value": ["p"]},
    {"name": "FAIL_REGULAR_EXPRESSION", "value": ["q"]}, {"name": "SKIP_REGULAR_EXPRESSION", "value": ["k"]},
    {"name": "COST", "value": 3.5})");
  EXPECT_EQ(test.name, "t");
  EXPECT_EQ(test.ctest, "t");
  EXPECT_EQ(test.id, test_id("t"));
  EXPECT_EQ(test.framework, Framework::CTest);
  EXPECT_THAT(test.command, ElementsAre("/p", "a b"));
  EXPECT_EQ(test.directory, "/w");
  EXPECT_EQ(test.timeout_seconds, 5.5);
  EXPECT_TRUE(test.will_fail);
  EXPECT_TRUE(test.disabled);
  EXPECT_THAT(test.skip_codes, ElementsAre(77));
  EXPECT_THAT(test.labels, ElementsAre("x", "y"));
  EXPECT_THAT(test.environment, ElementsAre(Pair("A", "1"), Pair("B", "x=y z")));
  TestRules expected;
  expected.run_serial = true;
  expected.resource_locks = {"db"};
  expected.processors = 3;
  expected.fixtures_setup = {"s"};
  expected.fixtures_required = {"r"};
  expected.fixtures_cleanup = {"c"};
  expected.depends = {"d"};
  expected.required_files = {"f"};
  expected.pass_patterns = {"p"};
  expected.fail_patterns = {"q"};
  expected.skip_patterns = {"k"};
  EXPECT_EQ(test.rules, expected);
}

TEST(ParseCTest, CarriesOutEnvironmentModifications) {
  // Modifications stand before ENVIRONMENT in the list but come after it.
  const TestCase test = parse_one(R"(
    {"name": "ENVIRONMENT_MODIFICATION", "value": [
      "PATH=path_list_prepend:/a:/b", "PATH=path_list_append:/z", "NEW=set:v:w", "LIST=cmake_list_append:2",
      "EMPTY=path_list_append:/only", "TEXT=string_append:b", "TEXT=string_prepend:a", "GONE=unset:",
      "BACK=set:x", "BACK=reset:", "nonsense", "X=unknown:y"]},
    {"name": "ENVIRONMENT", "value": ["LIST=1", "GONE=1", "BACK=own"]})");
  EXPECT_THAT(test.environment,
              ElementsAre(Pair("BACK", "own"), Pair("EMPTY", "/only"), Pair("LIST", "1;2"),
                          Pair("NEW", "v:w"), Pair("PATH", "/a:/b:/usr/bin:/z"), Pair("TEXT", "ab")));
  EXPECT_THAT(test.rules.unset_environment, ElementsAre("GONE"));
}

TEST(ParseCTest, TestsThatAreNotBuilt) {
  const auto listing = parse_ctest(R"({"tests": [{"name": "unit_NOT_BUILT"},
    {"name": "cases_NOT_BUILT-b12d07c"}, {"name": "missing"}, {"name": "a_NOT_BUILT-or-not", "command": ["/p"]},
    {"name": "real_NOT_BUILT", "command": ["/p"]}]})",
                                   inherited);
  ASSERT_TRUE(listing);
  EXPECT_THAT(listing->not_built, ElementsAre("unit", "cases"));
  ASSERT_EQ(listing->tests.size(), 3U);
  EXPECT_EQ(listing->tests[0].name, "missing");
  EXPECT_THAT(listing->tests[0].command, IsEmpty());
}

TEST(ParseCTest, RejectsOtherDocuments) {
  for (const char* json :
       {"", "null", "[]", "{}", R"({"tests": [1]})", R"({"tests": [{"command": []}]})",
        R"({"tests": [{"name": "t", "properties": [{"name": "TIMEOUT", "value": "x"}]}]})"}) {
    const auto listing = parse_ctest(json, inherited);
    ASSERT_FALSE(listing) << json;
    EXPECT_EQ(listing.error().code, ErrorCode::Project);
  }
}

TEST(ListCTest, SaysWhatIsMissing) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  EXPECT_EQ(list_ctest("ctest", directory.path(), "").error().code, ErrorCode::Project);
  ASSERT_TRUE(write_file_atomically(directory.file("CTestTestfile.cmake"), "add_test(t /bin/true)\n"));
  EXPECT_EQ(list_ctest("ctest", directory.path(), "").value().tests.size(), 1U);
  const auto no_ctest = list_ctest("no-such-ctest", directory.path(), "");
  ASSERT_FALSE(no_ctest);
  EXPECT_THAT(no_ctest.error().hint, ::testing::HasSubstr("install CMake"));
}

}  // namespace
}  // namespace simrt::testing
