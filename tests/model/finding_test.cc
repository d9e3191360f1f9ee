#include "model/finding.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace simrt {
namespace {

CodeFrame frame(const std::string& function, const std::string& file, std::uint32_t line,
                const std::string& statement) {
  return {function, "_Z" + function, file, line, 5, statement};
}

Finding race() {
  Finding finding;
  finding.kind = FindingKind::Race;
  finding.variable = "HM::modCount";
  FindingSide read, write;
  read.kind = StepKind::Read;
  read.stack = {frame("std::get", "/usr/include/x.h", 7, ""), frame("clear", "hm.cc", 6, "++modCount;")};
  write.kind = StepKind::Write;
  write.stack = {frame("clear", "hm.cc", 6, "++modCount;")};
  finding.sides = {read, write};
  return finding;
}

TEST(Fingerprint, SurvivesOtherLinesFilesThreadsAndTheOrderOfTheSides) {
  const Finding base = race();
  Finding moved = race();
  for (FindingSide& side : moved.sides) {
    side.stack.back().line = 99;
    side.stack.back().file = "other/hm.cc";
    side.thread.name = "main/other";
    side.stack.push_back(frame("caller", "main.cc", 3, "clear();"));
  }
  moved.status = FindingStatus::Confirmed;
  moved.evidence = "x";
  std::reverse(moved.sides.begin(), moved.sides.end());
  EXPECT_EQ(fingerprint(base), fingerprint(moved));
}

TEST(Fingerprint, TellsVariablesKindsStatementsAndFunctionsApart) {
  const std::uint64_t base = fingerprint(race());
  const auto changed = [&](auto change) {
    Finding finding = race();
    change(finding);
    return fingerprint(finding);
  };
  EXPECT_NE(base, changed([](Finding& f) { f.variable = "HM::table"; }));
  EXPECT_NE(base, changed([](Finding& f) { f.kind = FindingKind::Atomicity; }));
  EXPECT_NE(base, changed([](Finding& f) { f.sides[0].kind = StepKind::Write; }));
  EXPECT_NE(base, changed([](Finding& f) { f.sides[1].stack[0].statement = "modCount=0;"; }));
  EXPECT_NE(base, changed([](Finding& f) { f.sides[1].stack[0].linkage = "_Zother"; }));
}

TEST(Fingerprint, IsOneForAllElementsOfAnArray) {
  Finding named = race(), first = race(), second = race();
  named.variable = "shares, turn";
  first.variable = "shares+8, turn";
  second.variable = "shares, turn+128";
  EXPECT_EQ(fingerprint(named), fingerprint(first));
  EXPECT_EQ(fingerprint(named), fingerprint(second));
  named.variable = "a +1 b";  // part of a text that was written so
  second.variable = "a b";
  EXPECT_NE(fingerprint(named), fingerprint(second));
}

TEST(Fingerprint, OfAnAtomicityViolationKeepsTheOrderOfItsAccesses) {
  Finding finding = race();
  finding.kind = FindingKind::Atomicity;
  const std::uint64_t base = fingerprint(finding);
  std::reverse(finding.sides.begin(), finding.sides.end());
  EXPECT_NE(base, fingerprint(finding));
}

TEST(Fingerprint, IsTheSameOnEveryMachine) {
  EXPECT_EQ(fingerprint_text(fingerprint(Finding{})), fingerprint_text(fingerprint(Finding{})));
  EXPECT_EQ(fingerprint_text(0x12).size(), 16U);
}

TEST(OwnFrame, IsTheInnermostOfTheRepository) {
  EXPECT_EQ(own_frame(race().sides[0].stack)->function, "clear");
  EXPECT_EQ(own_frame({frame("memcpy", "/lib/x", 1, "")})->function, "memcpy");
  EXPECT_EQ(own_frame({}), nullptr);
}

}  // namespace
}  // namespace simrt
