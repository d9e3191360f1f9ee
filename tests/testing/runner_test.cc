#include "testing/runner.h"

#include <gmock/gmock.h>

#include <csignal>

#include "sample_programs.h"
#include "support/files.h"
#include "testing/case_listing.h"

namespace simrt::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() { options_.trace_directory = traces_.path(); }
  RunResult run(const TestCase& test) { return run_test(test, options_).value(); }

  TemporaryDirectory traces_ = TemporaryDirectory::create().value();
  RunOptions options_;
};

TEST_F(RunnerTest, PassAndFail) {
  const RunResult passed = run(plain_test("p", {"exit", "0"}));
  EXPECT_EQ(passed.outcome, Outcome::Passed);
  EXPECT_EQ(passed.test, test_id("p"));
  EXPECT_GT(passed.seconds, 0);
  EXPECT_THAT(passed.traces, IsEmpty());
  EXPECT_EQ(run(plain_test("p", {"exit", "4"})).exit_code, 4);
}

TEST_F(RunnerTest, CrashHangAndFlood) {
  const RunResult crash = run(plain_test("c", {"crash"}));
  EXPECT_EQ(crash.outcome, Outcome::Crashed);
  EXPECT_EQ(crash.exit_code, -SIGABRT);
  TestCase hang = plain_test("h", {"hang"});
  hang.timeout_seconds = 0.3;
  EXPECT_EQ(run(hang).outcome, Outcome::TimedOut);
  options_.output_limit = 1000;
  const RunResult flood = run(plain_test("f", {"flood", "200000"}));
  EXPECT_EQ(flood.outcome, Outcome::Passed);
  EXPECT_EQ(flood.output.size(), 1000U);
  EXPECT_THAT(flood.output, EndsWith("line 199999\n"));
}

TEST_F(RunnerTest, CasesOfOneProgramShareNoTemporaryFiles) {
  TestCase test;
  test.name = "files";
  test.id = test_id(test.name);
  test.command = {"/bin/sh", "-c", "test ! -e $TEST_TMPDIR/left && : > $TMPDIR/left"};
  test.selector = "case";
  EXPECT_EQ(run(test).outcome, Outcome::Passed);
  EXPECT_EQ(run(test).outcome, Outcome::Passed);
}

TEST_F(RunnerTest, DefaultTimeout) {
  options_.default_timeout_seconds = 0.3;
  EXPECT_EQ(run(plain_test("h", {"hang"})).outcome, Outcome::TimedOut);
}

TEST_F(RunnerTest, DaemonsChildrenAndThreadsLeftBehind) {
  const RunResult daemon = run(plain_test("d", {"daemon"}));
  EXPECT_EQ(daemon.outcome, Outcome::Passed);
  EXPECT_THAT(daemon.notes, Contains("left a daemon behind (plain)"));
  EXPECT_THAT(run(plain_test("c", {"child"})).notes, Contains("left a child process behind (plain)"));
  EXPECT_EQ(run(plain_test("t", {"threads", "3"})).outcome, Outcome::Passed);
}

TEST_F(RunnerTest, TracesOfThisRunOnly) {
  const TestCase test = plain_test("t", {"trace", "2"});
  const RunResult first = run(test);
  ASSERT_EQ(first.traces.size(), 3U);
  EXPECT_EQ(read_file(first.traces[0]).value(), "main");
  const RunResult second = run(test);
  EXPECT_EQ(second.traces.size(), 3U);
  EXPECT_NE(second.traces[1], first.traces[1]);
}

TEST_F(RunnerTest, NoTraceVariableWithoutATraceDirectory) {
  ::setenv("SIMRT_TRACE", "/should/not/be/inherited", 1);
  options_.trace_directory.clear();
  const RunResult result = run(plain_test("e", {"getenv", "SIMRT_TRACE"}));
  ::unsetenv("SIMRT_TRACE");
  EXPECT_EQ(result.output, "unset\n");
}

TEST_F(RunnerTest, EnvironmentOfTestAndOptions) {
  TestCase test = plain_test("e", {"getenv", "SIMRT_SAMPLE"});
  test.environment["SIMRT_SAMPLE"] = "test's";
  EXPECT_EQ(run(test).output, "test's\n");
  options_.environment["SIMRT_SAMPLE"] = "everybody's";
  EXPECT_EQ(run(test).output, "everybody's\n");
  test = plain_test("e", {"getenv", "HOME"});
  test.rules.unset_environment = {"HOME"};
  EXPECT_EQ(run(test).output, "unset\n");
}

TEST_F(RunnerTest, WhatCannotRun) {
  TestCase test = plain_test("x", {"exit", "0"});
  test.disabled = true;
  EXPECT_THAT(run(test).notes, ElementsAre("disabled"));
  options_.run_disabled = true;
  EXPECT_EQ(run(test).outcome, Outcome::Passed);
  test.rules.required_files = {"/no/such/file"};
  EXPECT_EQ(run(test).outcome, Outcome::NotRun);
  EXPECT_THAT(run(test).notes, ElementsAre("the required file /no/such/file does not exist"));
  EXPECT_EQ(run(TestCase{}).outcome, Outcome::NotRun);
  test = plain_test("x", {});
  test.command = {"/no/such/program"};
  EXPECT_EQ(run(test).outcome, Outcome::NotRun);
  EXPECT_THAT(run(test).notes.at(0), HasSubstr("No such file"));
}

TEST_F(RunnerTest, InterruptedRunsAreMarked) {
  InterruptToken token;
  token.request();
  const auto result = run_test(plain_test("h", {"hang"}), options_, &token);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->outcome, Outcome::NotRun);
}

TEST_F(RunnerTest, GoogleTestCases) {
  const auto outcome = [&](const std::string& name) {
    TestCase test = case_test(Framework::GoogleTest, "sample_gtest", name);
    test.timeout_seconds = name == "Sample.Hangs" ? 0.3 : 30;
    return run(test).outcome;
  };
  ::setenv("GTEST_TOTAL_SHARDS", "1000", 1);
  ::setenv("GTEST_SHARD_INDEX", "7", 1);
  EXPECT_EQ(outcome("Sample.Passes"), Outcome::Passed);
  ::unsetenv("GTEST_TOTAL_SHARDS");
  ::unsetenv("GTEST_SHARD_INDEX");
  EXPECT_EQ(outcome("Sample.Fails"), Outcome::Failed);
  EXPECT_EQ(outcome("Sample.Skips"), Outcome::Skipped);
  EXPECT_EQ(outcome("Sample.Crashes"), Outcome::Crashed);
  EXPECT_EQ(outcome("Sample.Hangs"), Outcome::TimedOut);
  EXPECT_EQ(outcome("Sample.DISABLED_Off"), Outcome::Passed);
  EXPECT_EQ(outcome("Typed/1.Works"), Outcome::Passed);
  EXPECT_EQ(outcome("Sample.Renamed"), Outcome::NotRun);
  const RunResult one = run(case_test(Framework::GoogleTest, "sample_gtest", "Some/Values.Hold/1"));
  EXPECT_THAT(one.output, HasSubstr("ran with c.d"));
  EXPECT_THAT(one.output, Not(HasSubstr("ran with a # b")));
}

/// Every listed case, run alone, runs exactly itself.
void expect_each_runs_alone(TestMain main, const std::string& program, const RunOptions& options) {
  ListingRequest request;
  request.main = main;
  request.filter.base = {sample(program)};
  const auto cases = list_cases(request);
  ASSERT_TRUE(cases) << cases.error().message;
  for (const ListedCase& listed : *cases) {
    const RunResult result = run_test(case_test(framework_of(main), program, listed.name), options).value();
    if (listed.name == "fails") {
      EXPECT_EQ(result.outcome, Outcome::Failed);
    } else if (listed.disabled) {
      EXPECT_EQ(result.outcome, Outcome::NotRun) << listed.name;
    } else {
      EXPECT_EQ(result.outcome, Outcome::Passed) << listed.name << "\n" << result.output;
      if (listed.name == "twice" || listed.name.starts_with("template")) continue;
      EXPECT_THAT(result.output, HasSubstr("ran <" + listed.name + ">"));
      const std::size_t first = result.output.find("ran <");
      EXPECT_EQ(result.output.find("ran <", first + 1), std::string::npos) << result.output;
    }
  }
}

TEST_F(RunnerTest, CatchCasesAlone) { expect_each_runs_alone(TestMain::Catch2V2, "sample_catch", options_); }

TEST_F(RunnerTest, DoctestCasesAlone) {
  expect_each_runs_alone(TestMain::Doctest, "sample_doctest", options_);
}

TEST_F(RunnerTest, GoneCasesOfCatchAndDoctest) {
  EXPECT_EQ(run(case_test(Framework::Catch2, "sample_catch", "gone")).outcome, Outcome::NotRun);
  EXPECT_EQ(run(case_test(Framework::Doctest, "sample_doctest", "gone")).outcome, Outcome::NotRun);
}

}  // namespace
}  // namespace simrt::testing
