#include "testing/discover.h"

#include <gmock/gmock.h>

#include "sample_programs.h"
#include "support/files.h"
#include "support/subprocess.h"

namespace simrt::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> names(const Discovery& discovery) {
  std::vector<std::string> result;
  for (const TestCase& test : discovery.tests) result.push_back(test.name);
  return result;
}

const TestCase& find(const Discovery& discovery, const std::string& name) {
  for (const TestCase& test : discovery.tests) {
    if (test.name == name) return test;
  }
  throw std::out_of_range("no test " + name);
}

/// A build directory as CMake leaves it, without running CMake.
class DiscoverCTest : public ::testing::Test {
 protected:
  Result<Discovery> discover(const std::string& testfile, double timeout = 30) {
    EXPECT_TRUE(write_file_atomically(directory_.file("CTestTestfile.cmake"), testfile));
    DiscoverOptions options;
    options.ctest_directory = directory_.path();
    options.listing_timeout_seconds = timeout;
    return discover_tests(options);
  }
  TemporaryDirectory directory_ = TemporaryDirectory::create().value();
};

TEST_F(DiscoverCTest, ExpandsProgramsOfEveryFramework) {
  const auto discovery = discover("add_test(g " + sample("sample_gtest") + " --gtest_color=no)\nadd_test(c " +
                                  sample("sample_catch") + ")\nadd_test(d " + sample("sample_doctest") +
                                  ")\nadd_test(p " + sample("plain") + " exit 0)\n");
  ASSERT_TRUE(discovery) << discovery.error().message;
  EXPECT_THAT(discovery->warnings, IsEmpty());
  EXPECT_THAT(names(*discovery),
              IsSupersetOf({"g:Sample.Passes", "g:Some/Values.Hold/1", "g:Sample.DISABLED_Off",
                            "c:with, comma [and] brackets", "d:back\\slash \"quoted\" <x> & y", "p"}));
  EXPECT_THAT(names(*discovery), Not(Contains("g")));
  const TestCase& gtest = find(*discovery, "g:Sample.Passes");
  EXPECT_EQ(gtest.framework, Framework::GoogleTest);
  EXPECT_EQ(gtest.selector, "Sample.Passes");
  EXPECT_EQ(gtest.ctest, "g");
  EXPECT_EQ(gtest.id, test_id("g:Sample.Passes"));
  EXPECT_THAT(gtest.command, ElementsAre(sample("sample_gtest"), "--gtest_color=no"));
  EXPECT_TRUE(find(*discovery, "g:Sample.DISABLED_Off").disabled);
  EXPECT_FALSE(gtest.disabled);
  EXPECT_EQ(find(*discovery, "c:plain").framework, Framework::Catch2);
  EXPECT_EQ(find(*discovery, "d:plain").framework, Framework::Doctest);
  EXPECT_EQ(find(*discovery, "p").framework, Framework::CTest);
}

TEST_F(DiscoverCTest, ATestThatIsOneCaseAlreadyStaysOneTest) {
  const auto discovery = discover("add_test(Nice.Name " + sample("sample_gtest") +
                                  " --gtest_filter=Sample.Passes --gtest_also_run_disabled_tests)\n"
                                  "add_test(ours.plain " +
                                  sample("sample_catch") +
                                  " \"a\\\\*b\" -s)\n"
                                  "add_test(doc " +
                                  sample("sample_doctest") + " --test-case=plain)\n");
  ASSERT_TRUE(discovery) << discovery.error().message;
  EXPECT_THAT(names(*discovery), ElementsAre("Nice.Name", "ours.plain", "doc"));
  EXPECT_EQ(discovery->tests[0].framework, Framework::GoogleTest);
  EXPECT_EQ(discovery->tests[0].selector, "Sample.Passes");
  EXPECT_EQ(discovery->tests[1].selector, "a*b");
  EXPECT_THAT(discovery->tests[1].command, ElementsAre(sample("sample_catch"), "-s"));
  EXPECT_EQ(discovery->tests[2].selector, "plain");
}

TEST_F(DiscoverCTest, FiltersThatChooseSeveralAreExpanded) {
  const auto discovery =
      discover("add_test(some " + sample("sample_gtest") + " --gtest_filter=Sample.Pass*)\n");
  ASSERT_TRUE(discovery);
  EXPECT_THAT(names(*discovery), ElementsAre("some:Sample.Passes", "some:Sample.PassesToo"));
  EXPECT_THAT(discovery->tests[0].command, ElementsAre(sample("sample_gtest")));
}

TEST_F(DiscoverCTest, CasesKeepTheirTestsProperties) {
  const auto discovery =
      discover("add_test(g " + sample("sample_gtest") +
               ")\nset_tests_properties(g PROPERTIES TIMEOUT 7 LABELS \"a;b\" RUN_SERIAL ON)\n");
  ASSERT_TRUE(discovery);
  EXPECT_EQ(discovery->tests[0].timeout_seconds, 7);
  EXPECT_THAT(discovery->tests[0].labels, ElementsAre("a", "b"));
  EXPECT_TRUE(discovery->tests[0].rules.run_serial);
}

// The program would run them one after another: they may share files, as leveldb's tests share one directory.
TEST_F(DiscoverCTest, CasesOfOneTestAreKeptApart) {
  const std::string testfile = "add_test(g " + sample("sample_gtest") + ")\nadd_test(h " +
                               sample("sample_gtest") +
                               ")\nset_tests_properties(h PROPERTIES RESOURCE_LOCK port)\n"
                               "add_test(single " +
                               sample("sample_gtest") + " --gtest_filter=Sample.Passes)\n";
  const auto discovery = discover(testfile);
  ASSERT_TRUE(discovery);
  const auto locks = [&](const std::string& name) { return find(*discovery, name).rules.resource_locks; };
  ASSERT_THAT(locks("g:Sample.Passes"), SizeIs(1));
  EXPECT_EQ(locks("g:Sample.Passes"), locks("g:Sample.PassesToo"));
  EXPECT_THAT(locks("h:Sample.Passes"), ElementsAre("port", Not(locks("g:Sample.Passes").front())));
  EXPECT_THAT(locks("single"), IsEmpty());

  DiscoverOptions options;
  options.ctest_directory = directory_.path();
  options.parallel_cases = true;
  const auto parallel = discover_tests(options);
  ASSERT_TRUE(parallel);
  EXPECT_THAT(find(*parallel, "g:Sample.Passes").rules.resource_locks, IsEmpty());
}

TEST_F(DiscoverCTest, WhatJudgesTheWholeProgramKeepsItWhole) {
  const auto discovery =
      discover("add_test(w " + sample("sample_gtest") + ")\nadd_test(r " + sample("sample_gtest") +
               ")\nset_tests_properties(w PROPERTIES WILL_FAIL ON)\n"
               "set_tests_properties(r PROPERTIES PASS_REGULAR_EXPRESSION x)\n");
  ASSERT_TRUE(discovery);
  EXPECT_THAT(names(*discovery), ElementsAre("w", "r"));
}

TEST_F(DiscoverCTest, ProgramsThatCannotBeListedAreOneTestWithAWarning) {
  const std::string program = sample("misbehaving_gtest");
  const auto discovery =
      discover("add_test(crash " + program + ")\nadd_test(hang " + program + ")\nadd_test(fine " + program +
                   ")\nset_tests_properties(crash PROPERTIES ENVIRONMENT MISBEHAVIOUR=crash)\n"
                   "set_tests_properties(hang PROPERTIES ENVIRONMENT MISBEHAVIOUR=hang)\n",
               2);
  ASSERT_TRUE(discovery);
  EXPECT_THAT(names(*discovery), ElementsAre("crash", "hang", "fine:Misbehaving.Case"));
  EXPECT_THAT(discovery->warnings,
              ElementsAre(HasSubstr("the test crash is recorded as a whole: it crashed"),
                          HasSubstr("the test hang is recorded as a whole: it did not list")));
  EXPECT_FALSE(discovery->complete);
}

TEST_F(DiscoverCTest, MissingProgramsAreWarnedOf) {
  const auto discovery =
      discover("add_test(gone /no/such/program)\nadd_test(unit_NOT_BUILT unit_NOT_BUILT)\n");
  ASSERT_TRUE(discovery);
  EXPECT_THAT(names(*discovery), ElementsAre("gone"));
  EXPECT_THAT(discovery->warnings, Contains(HasSubstr("the test program unit is not built")));
  EXPECT_FALSE(discovery->complete);
  // What cases a program has that does not exist, nobody knows either.
  const auto gone = discover("add_test(gone /no/such/program)\n");
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->complete);
}

TEST(Discover, PlainCommands) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  DiscoverOptions options;
  options.directory = directory.path();
  options.plain.push_back({.name = "smoke", .command = {"true"}, .timeout_seconds = 3, .labels = {"l"}});
  options.plain.push_back({.command = {sample("misbehaving_gtest")}, .directory = "sub"});
  options.plain.push_back({.command = {"./smoke"}});
  const auto discovery = discover_tests(options);
  ASSERT_TRUE(discovery) << discovery.error().message;
  EXPECT_THAT(names(*discovery), ElementsAre("smoke", "misbehaving_gtest", "smoke#2"));
  EXPECT_THAT(discovery->warnings, Contains(HasSubstr("two tests are named smoke")));
  EXPECT_EQ(discovery->tests[0].framework, Framework::Plain);
  EXPECT_EQ(discovery->tests[0].timeout_seconds, 3);
  EXPECT_EQ(discovery->tests[0].directory, directory.path());
  EXPECT_EQ(discovery->tests[2].command.front(), directory.file("smoke"));
}

TEST(Discover, WithoutExpansionNothingIsRun) {
  DiscoverOptions options;
  options.plain.push_back({.command = {sample("sample_gtest")}});
  options.expand = false;
  EXPECT_THAT(names(*discover_tests(options)), ElementsAre("sample_gtest"));
}

TEST(Discover, NothingToDiscoverIsAnError) {
  EXPECT_EQ(discover_tests({}).error().code, ErrorCode::Project);
  DiscoverOptions options;
  options.plain.push_back({.name = "empty"});
  EXPECT_EQ(discover_tests(options).error().code, ErrorCode::Project);
  options.plain.clear();
  options.meson_directory = "/no/such/directory";
  EXPECT_EQ(discover_tests(options).error().code, ErrorCode::Project);
}

TEST(Discover, AnInterruptEndsIt) {
  InterruptToken token;
  token.request();
  DiscoverOptions options;
  options.plain.push_back({.command = {sample("sample_gtest")}});
  EXPECT_EQ(discover_tests(options, &token).error().code, ErrorCode::Interrupted);
}

// A real project, configured and built: gtest_discover_tests() and a target that is not built.
TEST(Discover, ARealCMakeProject) {
  const TemporaryDirectory directory = TemporaryDirectory::create().value();
  ASSERT_TRUE(
      write_file_atomically(directory.file("unit.cc"),
                            "#include <gtest/gtest.h>\n"
                            "TEST(A, One) {}\nTEST(A, DISABLED_Two) {}\n"
                            "class P : public testing::TestWithParam<const char*> {};\n"
                            "TEST_P(P, Q) {}\nINSTANTIATE_TEST_SUITE_P(I, P, testing::Values(\"x y\"));\n"));
  ASSERT_TRUE(write_file_atomically(
      directory.file("CMakeLists.txt"),
      "cmake_minimum_required(VERSION 3.20)\nproject(demo CXX)\nenable_testing()\nfind_package(GTest "
      "REQUIRED)\n"
      "include(GoogleTest)\nadd_executable(unit unit.cc)\ntarget_link_libraries(unit GTest::gtest_main)\n"
      "gtest_discover_tests(unit TEST_PREFIX unit.)\nadd_executable(later EXCLUDE_FROM_ALL unit.cc)\n"
      "target_link_libraries(later GTest::gtest_main)\ngtest_discover_tests(later)\n"
      "add_test(NAME whole COMMAND unit)\nset_tests_properties(whole PROPERTIES FIXTURES_REQUIRED f)\n"));
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"-S", directory.path(), "-B", directory.file("b"), "-DCMAKE_CXX_COMPILER=" SIMRT_TEST_CXX},
           {"--build", directory.file("b")}}) {
    ProcessSpec spec;
    spec.command = {SIMRT_TEST_CMAKE};
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    const auto built = run_process(spec);
    ASSERT_TRUE(built && built->succeeded()) << built->output;
  }
  DiscoverOptions options;
  options.ctest_directory = directory.file("b");
  const auto discovery = discover_tests(options);
  ASSERT_TRUE(discovery) << discovery.error().message;
  EXPECT_THAT(names(*discovery), ElementsAre("unit.A.One", "unit.A.Two", "unit.I/P.Q/\"x y\"", "whole:A.One",
                                             "whole:A.DISABLED_Two", "whole:I/P.Q/0"));
  EXPECT_THAT(discovery->warnings, ElementsAre("the test program later is not built: its tests are unknown"));
  EXPECT_EQ(discovery->tests[1].selector, "A.DISABLED_Two");
  EXPECT_TRUE(discovery->tests[1].disabled);
  EXPECT_EQ(discovery->tests[2].selector, "I/P.Q/0");
  EXPECT_THAT(discovery->tests[3].rules.fixtures_required, ElementsAre("f"));
}

}  // namespace
}  // namespace simrt::testing
