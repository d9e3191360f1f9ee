// What a check says, as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/findings_view.h"

namespace simrt::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CheckedTestLine test_with(const std::string& name, std::vector<std::string> notes) {
  CheckedTestLine line;
  line.name = name;
  line.notes = std::move(notes);
  return line;
}

TEST(FindingsText, WhatIsSaidOfSeveralTestsIsOneLine) {
  CheckView view;
  view.tests = {test_with("a", {"no check build", "slow"}),
                test_with("b", {"no check build"}),
                test_with("c", {"slow"}),
                test_with("d", {"no check build"}),
                test_with("e", {"no check build"}),
                test_with("f", {"no check build"})};
  const std::string text = render_check_text(view);
  EXPECT_THAT(text, HasSubstr("note: a, b, d and 2 more: no check build\nnote: a, c: slow\n"));
  EXPECT_THAT(text, Not(HasSubstr("note: e")));
}

TEST(FindingsText, OfHundredsOfGuessesTheFirstAreShownAndAllBugs) {
  CheckView view;
  for (int i = 0; i < 60; ++i) {
    Finding finding;
    finding.variable = "guess" + std::to_string(i) + "_";
    finding.status = FindingStatus::Potential;
    view.findings.push_back(finding);
  }
  const std::string guesses = render_check_text(view);
  EXPECT_THAT(guesses, HasSubstr("guess19_"));
  EXPECT_THAT(guesses, Not(HasSubstr("guess20_")));
  EXPECT_THAT(guesses, HasSubstr("... and 40 more (--format json lists all)"));
  EXPECT_THAT(guesses, HasSubstr("60 potential"));
  for (Finding& finding : view.findings) finding.status = FindingStatus::Confirmed;
  EXPECT_THAT(render_check_text(view), HasSubstr("guess59_"));
}

}  // namespace
}  // namespace simrt::report
