// Which line of a failing program's output is taken for the reason.
#include "pipeline/execution/complaint.h"

#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

const std::string kAssertion = "prog: /src/queue.cc:12: void push(): Assertion `size > 0' failed.\n";
const std::string kUncaught =
    "terminate called after throwing an instance of 'std::logic_error'\n  what():  no\n";
const std::string kFailure = "/src/queue_test.cc:7: Failure\n";
const std::string kIntended = "I expect it: ERROR 1\n";

TEST(Complaint, WhatOnlyADyingProgramPrintsGoesBeforeOtherLinesInEitherOrder) {
  for (const Death death : {Death::Exit, Death::Signal}) {
    for (const std::string& output : {kIntended + kAssertion, kAssertion + kIntended})
      EXPECT_EQ(complaint(output, death), "Assertion `size > 0' failed");
    for (const std::string& output : {kIntended + kUncaught, kUncaught + kIntended})
      EXPECT_EQ(complaint(output, death),
                "terminate called after throwing an instance of 'std::logic_error'");
    EXPECT_EQ(complaint(kIntended + "*** stack smashing detected ***: terminated\n", death),
              "*** stack smashing detected ***");
  }
}

TEST(Complaint, ASignalIsExplainedByTheLastLineAndAnExitStatusByTheFirst) {
  EXPECT_EQ(complaint(kIntended + kFailure, Death::Signal), "queue_test.cc: Failure");
  EXPECT_EQ(complaint(kFailure + kIntended, Death::Signal), "I expect it: ERROR ");
  EXPECT_EQ(complaint(kIntended + kFailure, Death::Exit), "I expect it: ERROR ");
  EXPECT_EQ(complaint(kFailure + kIntended, Death::Exit), "queue_test.cc: Failure");
}

/// glog frames the trace of each fatal check with the same words.
TEST(Complaint, TheFrameOfATraceIsTakenOnlyWhereNothingElseIsSaid) {
  const std::string frame = "*** Check failure stack trace: ***\n";
  for (const Death death : {Death::Exit, Death::Signal}) {
    EXPECT_EQ(complaint("F20231114 22:13:20.000909 140737349803904 a.cc:9] Check failed: x\n" + frame, death),
              "a.cc] Check failed: x");
    EXPECT_EQ(complaint("fine\n" + frame, death), "*** Check failure stack trace: ***");
  }
}

TEST(Complaint, EqualFailuresAreToldInEqualWords) {
  EXPECT_EQ(
      complaint("F0102 15:04:05.000001  41 a.cc:9] Check failed: p == 0x7f01 in 3 ms\n", Death::Signal),
      complaint("F0103 16:05:06.000002 512 a.cc:10] Check failed: p == 0x7f02 in 4 ms\n", Death::Signal));
  EXPECT_EQ(complaint("ERROR: worker 3, try 17\n", Death::Signal),
            complaint("ERROR: worker 5, try 2\n", Death::Signal));
  EXPECT_NE(complaint("Assertion `n == 1' failed\n", Death::Signal),
            complaint("Assertion `n == 2' failed\n", Death::Signal));
}

TEST(Complaint, OutputWithoutOneSaysNothing) {
  EXPECT_EQ(complaint("", Death::Signal), "");
  EXPECT_EQ(complaint("all is well\nstill", Death::Exit), "");
  EXPECT_EQ(complaint(std::string(5'000'000, 'x') + "\nERROR", Death::Exit), "ERROR")
      << "a line of any length";
}

}  // namespace
}  // namespace simrt::pipeline
