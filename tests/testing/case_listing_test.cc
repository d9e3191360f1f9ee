#include "testing/case_listing.h"

#include <gmock/gmock.h>

#include "sample_programs.h"

namespace simrt::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<ListedCase>& cases) {
  std::vector<std::string> result;
  for (const ListedCase& listed : cases) result.push_back(listed.name + (listed.disabled ? " (off)" : ""));
  return result;
}

Result<std::vector<ListedCase>> list(TestMain main, const std::string& program,
                                     std::map<std::string, std::string> environment = {},
                                     std::vector<std::string> chosen = {}) {
  ListingRequest request;
  request.main = main;
  request.filter.base = {sample(program)};
  request.filter.chosen = std::move(chosen);
  request.environment = std::move(environment);
  request.timeout_seconds = environment.empty() ? 30 : 1;
  return list_cases(request);
}

TEST(ListCases, GoogleTestWithTypesValuesAndNoise) {
  const auto cases = list(TestMain::GoogleTest, "sample_gtest");
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_THAT(names(*cases), ElementsAre("Sample.Passes", "Sample.PassesToo", "Sample.Fails", "Sample.Skips",
                                         "Sample.Crashes", "Sample.Hangs", "Sample.DISABLED_Off (off)",
                                         "DISABLED_Suite.Case (off)", "Typed/0.Works", "Typed/1.Works",
                                         "Some/Values.Hold/0", "Some/Values.Hold/1"));
}

TEST(ListCases, HonoursTheChosenFilter) {
  const auto cases = list(TestMain::GoogleTest, "sample_gtest", {}, {"--gtest_filter=Sample.Pass*"});
  ASSERT_TRUE(cases);
  EXPECT_THAT(names(*cases), ElementsAre("Sample.Passes", "Sample.PassesToo"));
}

TEST(ListCases, CatchWithoutHiddenOnes) {
  const auto cases = list(TestMain::Catch2V2, "sample_catch");
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_THAT(names(*cases), ElementsAre("plain", "plain sailing", "with, comma [and] brackets",
                                         "back\\slash \"quoted\"", "#hash", "~tilde", "-dash", "exclude: me",
                                         "a*b", "fails", "template - int", "template - std::pair<int, int>"));
}

TEST(ListCases, DoctestWithSkippedAndRepeatedOnes) {
  const auto cases = list(TestMain::Doctest, "sample_doctest");
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_THAT(names(*cases), ElementsAre("plain", "Plain", "plain sailing", "with, comma [and] brackets",
                                         "back\\slash \"quoted\" <x> & y", "  spaced  ",
                                         "ends with backslash\\", "fails", "left out (off)", "twice"));
}

struct Misbehaviour {
  std::string kind;
  std::string message;
};

class ListCasesFails : public ::testing::TestWithParam<Misbehaviour> {};

TEST_P(ListCasesFails, AndSaysWhy) {
  ListingRequest request;
  request.main = TestMain::GoogleTest;
  request.filter.base = {sample("misbehaving_gtest")};
  request.environment = {{"MISBEHAVIOUR", GetParam().kind}};
  request.timeout_seconds = GetParam().kind == "hang" ? 0.3 : 30;
  const auto cases = list_cases(request);
  ASSERT_FALSE(cases);
  EXPECT_EQ(cases.error().code, ErrorCode::Execution);
  EXPECT_THAT(cases.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ListCasesFails,
                         ::testing::Values(Misbehaviour{"crash", "crashed while listing its cases: Aborted"},
                                           Misbehaviour{"hang", "did not list its cases within 0.3 s"},
                                           Misbehaviour{"ignore flags", "printed no list of its cases"},
                                           Misbehaviour{"status", "ended with status 9"}),
                         [](const auto& info) {
                           std::string name = info.param.kind;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

TEST(ParseGtestText, OldListsWithParametersAndForeignLines) {
  const auto cases = parse_gtest_text(
      "Running main() from gtest_main.cc\n"
      "A.\n  b\n  DISABLED_c\n"
      "T/0.  # TypeParam = int\r\n  z\r\n"
      "warning: something.\n  indented noise\n"
      "I/P.\n  q/0  # GetParam() = \"a  # b\"\n");
  ASSERT_TRUE(cases);
  EXPECT_THAT(names(*cases), ElementsAre("A.b", "A.DISABLED_c (off)", "T/0.z", "I/P.q/0"));
  EXPECT_EQ(parse_gtest_text("hello\n"), std::nullopt);
  EXPECT_EQ(parse_gtest_text(""), std::nullopt);
}

TEST(ParseGtestJson, RejectsWhatIsNoList) {
  EXPECT_EQ(parse_gtest_json(""), std::nullopt);
  EXPECT_EQ(parse_gtest_json("[1,2]"), std::nullopt);
  EXPECT_EQ(parse_gtest_json(R"({"testsuites": [{"name": "A"}]})"), std::nullopt);
  EXPECT_EQ(parse_gtest_json(R"({"testsuites": [{"name": 1, "testsuite": []}]})"), std::nullopt);
  EXPECT_EQ(parse_gtest_json(R"({"testsuites": 3})"), std::nullopt);
}

TEST(ParseCatchNames, UnquotesHashesAndTrims) {
  EXPECT_THAT(names(*parse_catch_names("\"#hash\"\n  spaced  \nplain\nplain\n\n")),
              ElementsAre("#hash", "spaced", "plain"));
}

TEST(ParseDoctestXml, FindsTheListBehindOtherOutput) {
  const auto cases = parse_doctest_xml(
      "noise <TestCase name=\"no\"/>\n<?xml version=\"1.0\"?>\n<doctest>\n"
      "<TestCase name=\"a &lt; b\" skipped=\"false\"/><TestCase name=\"x\" skipped=\"true\"/>"
      "<TestCase name=\"x\" skipped=\"false\"/></doctest>\nmore");
  ASSERT_TRUE(cases);
  EXPECT_THAT(names(*cases), ElementsAre("a < b", "x"));
  EXPECT_EQ(parse_doctest_xml("<?xml version=\"1.0\"?><doctest>"), std::nullopt);
  EXPECT_EQ(parse_doctest_xml("nothing"), std::nullopt);
}

}  // namespace
}  // namespace simrt::testing
