#include "testing/outcome.h"

#include <gmock/gmock.h>

#include <csignal>

namespace simrt::testing {
namespace {

using End = ProcessResult::End;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProcessResult process(End end, int code, std::string output = {}) {
  ProcessResult result;
  result.end = end;
  result.code = code;
  result.output = std::move(output);
  return result;
}

TEST(Judge, ExitStatusDecides) {
  const Verdict passed = judge({}, process(End::Exited, 0));
  EXPECT_EQ(passed.outcome, Outcome::Passed);
  EXPECT_THAT(passed.notes, IsEmpty());
  const Verdict failed = judge({}, process(End::Exited, 3));
  EXPECT_EQ(failed.outcome, Outcome::Failed);
  EXPECT_EQ(failed.exit_code, 3);
}

TEST(Judge, SignalsAndTimeoutsAreWhatTheyAreEvenIfFailureIsExpected) {
  TestCase test;
  for (const bool will_fail : {false, true}) {
    test.will_fail = will_fail;
    const Verdict crashed = judge(test, process(End::Signalled, SIGSEGV));
    EXPECT_EQ(crashed.outcome, Outcome::Crashed);
    EXPECT_EQ(crashed.exit_code, -SIGSEGV);
    EXPECT_THAT(crashed.notes, ElementsAre("Segmentation fault (SIGSEGV)"));
    EXPECT_EQ(judge(test, process(End::TimedOut, SIGKILL)).outcome, Outcome::TimedOut);
  }
}

TEST(Judge, WhatDidNotRun) {
  ProcessResult missing = process(End::NotStarted, ENOENT);
  missing.notes = {"cannot execute x"};
  EXPECT_EQ(judge({}, missing).outcome, Outcome::NotRun);
  EXPECT_THAT(judge({}, missing).notes, ElementsAre("cannot execute x"));
  EXPECT_EQ(judge({}, process(End::Interrupted, SIGTERM)).outcome, Outcome::NotRun);
}

TEST(Judge, WillFailInverts) {
  TestCase test;
  test.will_fail = true;
  EXPECT_EQ(judge(test, process(End::Exited, 1)).outcome, Outcome::Passed);
  const Verdict verdict = judge(test, process(End::Exited, 0));
  EXPECT_EQ(verdict.outcome, Outcome::Failed);
  EXPECT_THAT(verdict.notes.at(0), HasSubstr("WILL_FAIL"));
}

TEST(Judge, PassPatternsReplaceTheExitStatus) {
  TestCase test;
  test.rules.pass_patterns = {"no", "all good"};
  EXPECT_EQ(judge(test, process(End::Exited, 5, "it is all good")).outcome, Outcome::Passed);
  EXPECT_EQ(judge(test, process(End::Exited, 0, "bad")).outcome, Outcome::Failed);
  test.will_fail = true;
  EXPECT_EQ(judge(test, process(End::Exited, 0, "bad")).outcome, Outcome::Passed);
}

TEST(Judge, FailPatterns) {
  TestCase test;
  test.rules.fail_patterns = {"ERROR"};
  const Verdict verdict = judge(test, process(End::Exited, 0, "an ERROR"));
  EXPECT_EQ(verdict.outcome, Outcome::Failed);
  EXPECT_THAT(verdict.notes.at(0), HasSubstr("ERROR"));
  EXPECT_EQ(judge(test, process(End::Exited, 0, "fine")).outcome, Outcome::Passed);
}

TEST(Judge, Skips) {
  TestCase test;
  test.skip_codes = {77};
  EXPECT_EQ(judge(test, process(End::Exited, 77)).outcome, Outcome::Skipped);
  test.skip_codes.clear();
  test.rules.skip_patterns = {"\\[  SKIPPED \\]"};
  EXPECT_EQ(judge(test, process(End::Exited, 1, "[  SKIPPED ] A.b")).outcome, Outcome::Skipped);
}

TEST(Judge, GoogleTestSaysThatItSkipped) {
  TestCase test;
  test.framework = Framework::GoogleTest;
  test.selector = "A.b";
  EXPECT_EQ(judge(test, process(End::Exited, 0, "[  SKIPPED ] A.b (0 ms)")).outcome, Outcome::Skipped);
  EXPECT_EQ(judge(test, process(End::Exited, 0, "[       OK ] A.b (0 ms)")).outcome, Outcome::Passed);
  EXPECT_EQ(judge(test, process(End::Exited, 1, "[  SKIPPED ] A.b (0 ms)")).outcome, Outcome::Failed);
}

TEST(Judge, ACaseThatIsGoneDidNotRun) {
  TestCase test;
  test.selector = "A.b";
  test.framework = Framework::GoogleTest;
  const Verdict verdict = judge(
      test,
      process(End::Exited, 0, "[==========] Running 0 tests from 0 test suites.\n[  PASSED  ] 0 tests."));
  EXPECT_EQ(verdict.outcome, Outcome::NotRun);
  EXPECT_THAT(verdict.notes, ElementsAre("the program has no case A.b"));
  test.framework = Framework::Catch2;
  EXPECT_EQ(judge(test, process(End::Exited, 0, "No test cases matched 'A.b'")).outcome, Outcome::NotRun);
  test.framework = Framework::Doctest;
  EXPECT_EQ(judge(test, process(End::Exited, 0, "[doctest] test cases: 0 | 0 passed")).outcome,
            Outcome::NotRun);
}

TEST(Judge, WhatIsLeftBehindIsNoted) {
  ProcessResult result = process(End::Exited, 0);
  result.left_behind = {{10, "sleep", false}, {11, "serverd", true}, {12, "cat", false}};
  result.left_behind_count = 3;
  EXPECT_THAT(judge({}, result).notes,
              ElementsAre("left a daemon behind (serverd)", "left 2 child processes behind (sleep, cat)"));
}

TEST(CMakePattern, DialectAndAwkwardText) {
  EXPECT_TRUE(matches_cmake_pattern("^a.c$", "a\nc"));
  EXPECT_FALSE(matches_cmake_pattern("^b", "a\nb"));   // the beginning of the text only
  EXPECT_TRUE(matches_cmake_pattern("x{2}", "x{2}"));  // no intervals in CMake
  EXPECT_FALSE(matches_cmake_pattern("x{2}", "xx"));
  EXPECT_TRUE(matches_cmake_pattern("\\.\\w+", ".w"));  // \w is a plain w
  EXPECT_TRUE(matches_cmake_pattern("[]x]+[^]]", "]xa"));
  EXPECT_TRUE(matches_cmake_pattern("(foo|bar)baz?", "barba"));
  EXPECT_TRUE(matches_cmake_pattern("end", std::string("a\0b end", 7)));
  EXPECT_FALSE(matches_cmake_pattern("(", "("));
  EXPECT_TRUE(matches_cmake_pattern(".*z", std::string(2'000'000, 'a') + "z"));  // no recursion
}

}  // namespace
}  // namespace simrt::testing
