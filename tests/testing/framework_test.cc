#include "testing/framework.h"

#include <gmock/gmock.h>

#include "sample_programs.h"
#include "support/files.h"
#include "testing/one_process.h"

namespace simrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Arguments = std::vector<std::string>;

TEST(DetectFramework, RecognisesEachFrameworkWithoutRunningIt) {
  EXPECT_EQ(detect_framework(sample("sample_gtest"), ""), TestMain::GoogleTest);
  EXPECT_EQ(detect_framework(sample("misbehaving_gtest"), ""), TestMain::GoogleTest);
  EXPECT_EQ(detect_framework(sample("sample_catch"), ""), TestMain::Catch2V2);
  EXPECT_EQ(detect_framework(sample("sample_doctest"), ""), TestMain::Doctest);
}

TEST(DetectFramework, OtherProgramsHaveNone) {
  EXPECT_EQ(detect_framework(sample("plain"), ""), TestMain::None);
  EXPECT_EQ(detect_framework("/bin/sh", ""), TestMain::None);
  EXPECT_EQ(detect_framework("/no/such/file", ""), TestMain::None);
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  ASSERT_TRUE(write_file_atomically(directory.file("script"), "gtest_list_tests"));
  EXPECT_EQ(detect_framework(directory.file("script"), ""), TestMain::None);
}

TEST(OneProcess, FrameworksThatForkForEachCaseAreToldNotTo) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  ASSERT_TRUE(write_file_atomically(directory.file("plain"), *read_file(sample("plain"))));
  const auto told = [&](Arguments command) {
    std::map<std::string, std::string> environment = {{"A", "b"}};
    keep_cases_in_one_process(command, environment, directory.path());
    EXPECT_EQ(environment.at("CK_FORK"), "no");
    return command;
  };
  EXPECT_THAT(told({"plain", "a"}), ElementsAre("plain", "a"));
  EXPECT_THAT(told({"/no/such/file"}), ElementsAre("/no/such/file"));
  const std::string forking = sample("forking_cases");
  EXPECT_THAT(told({forking, "case"}), ElementsAre(forking, "--no-exec", "case"));
  for (const char* choice : {"-E", "--no-exec", "--exec=always"})
    EXPECT_THAT(told({forking, choice}), ElementsAre(forking, choice));
  std::map<std::string, std::string> own = {{"CK_FORK", "yes"}};
  Arguments none;
  keep_cases_in_one_process(none, own, "/");
  EXPECT_EQ(own.at("CK_FORK"), "yes") << "who sets it means it";
  EXPECT_THAT(none, IsEmpty());
}

TEST(SplitFilter, GoogleTest) {
  const auto split = [](Arguments command) { return split_filter(Framework::GoogleTest, command); };
  EXPECT_THAT(split({"p", "-x"}).chosen, IsEmpty());
  const CaseFilter exact = split({"p", "--gtest_filter=I/S.c/0", "--gtest_also_run_disabled_tests"});
  EXPECT_EQ(exact.exact, "I/S.c/0");
  EXPECT_THAT(exact.base, ElementsAre("p", "--gtest_also_run_disabled_tests"));
  for (const char* pattern : {"S.*", "S.a:S.b", "S.?", "-S.a", ""}) {
    const CaseFilter filter = split({"p", std::string("--gtest_filter=") + pattern});
    EXPECT_EQ(filter.exact, std::nullopt) << pattern;
    EXPECT_EQ(filter.chosen.size(), 1U) << pattern;
  }
  EXPECT_THAT(split({"p", "--gtest_filter=*"}).chosen, IsEmpty());
  EXPECT_EQ(split({"p", "--gtest_filter=S.*", "--gtest_filter=S.a"}).exact, "S.a");
}

TEST(SplitFilter, Catch2) {
  const auto split = [](Arguments command) { return split_filter(Framework::Catch2, command); };
  const CaseFilter exact = split({"p", "-r", "xml", "a\\, b", "--durations", "yes", "-s"});
  EXPECT_EQ(exact.exact, "a, b");
  EXPECT_THAT(exact.base, ElementsAre("p", "-r", "xml", "--durations", "yes", "-s"));
  EXPECT_EQ(split({"p", "[tag]"}).exact, std::nullopt);
  EXPECT_EQ(split({"p", "a*"}).exact, std::nullopt);
  EXPECT_EQ(split({"p", "a", "b"}).exact, std::nullopt);
  EXPECT_EQ(split({"p", "~a"}).exact, std::nullopt);
  EXPECT_THAT(split({"p", "-f", "names.txt"}).chosen, ElementsAre("-f", "names.txt"));
  EXPECT_EQ(split({"p", "-f", "names.txt"}).exact, std::nullopt);
}

TEST(SplitFilter, Doctest) {
  const auto split = [](Arguments command) { return split_filter(Framework::Doctest, command); };
  EXPECT_EQ(split({"p", "-s", "--test-case=a\\, b"}).exact, "a, b");
  EXPECT_THAT(split({"p", "-s", "--dt-test-case=a"}).base, ElementsAre("p", "-s"));
  EXPECT_EQ(split({"p", "-tc=a,b"}).exact, std::nullopt);
  EXPECT_EQ(split({"p", "-tc=a*"}).exact, std::nullopt);
  EXPECT_EQ(split({"p", "-tc=a", "-tc=b"}).exact, std::nullopt);
  EXPECT_THAT(split({"p", "-ts=suite"}).base, ElementsAre("p", "-ts=suite"));
}

TEST(SplitFilter, PlainProgramsHaveNone) {
  EXPECT_THAT(split_filter(Framework::CTest, {"p", "a"}).base, ElementsAre("p", "a"));
}

TEST(SelectCase, GoogleTestReplacesWhatItCannotQuote) {
  EXPECT_THAT(select_case(Framework::GoogleTest, "S.c/0"), ElementsAre("--gtest_filter=S.c/0"));
  EXPECT_THAT(select_case(Framework::GoogleTest, "S.a:b*-c"), ElementsAre("--gtest_filter=S.a?b??c"));
  EXPECT_THAT(select_case(Framework::GoogleTest, "S.DISABLED_a"),
              ElementsAre("--gtest_filter=S.DISABLED_a", "--gtest_also_run_disabled_tests"));
}

TEST(CommandLine, AppendsTheSelectionOnlyWhenThereIsOne) {
  TestCase test = case_test(Framework::GoogleTest, "p", "S.a");
  test.command = {"p", "-x"};
  EXPECT_THAT(command_line(test), ElementsAre("p", "-x", "--gtest_filter=S.a"));
  test.selector.clear();
  EXPECT_THAT(command_line(test), ElementsAre("p", "-x"));
}

}  // namespace
}  // namespace simrt::testing
