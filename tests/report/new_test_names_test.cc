// New tests in the formats that other programs read; what a format cannot express.
#include "report/new_test_names.h"

#include <gmock/gmock.h>

#include <regex>

namespace simrt::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TestCase test_case(std::uint64_t id, Framework framework, std::string selector, std::string ctest) {
  TestCase test;
  test.id = {id};
  test.framework = framework;
  test.name = ctest.empty() ? "unit:" + selector : ctest;
  test.selector = std::move(selector);
  test.ctest = std::move(ctest);
  test.command = {"/build/unit"};
  return test;
}

/// One recorded test, listed first, and a new one beside it.
SelectionView view_of(const TestCase& sibling, const std::string& new_name) {
  SelectionView view;
  view.tests[sibling.id] = sibling;
  Decision decision;
  decision.test = sibling.id;
  decision.run = true;
  decision.rank = 1;
  view.selection.decisions.push_back(decision);
  view.new_tests.push_back({new_name, "unit_test.cc", 7, {sibling.id}});
  return view;
}

bool ctest_runs(const SelectionView& view, const std::string& test) {
  std::string expression = render_selection(view, Format::CTest);
  expression.pop_back();
  return std::regex_search(test, std::regex(expression, std::regex::extended));
}

TEST(NewTestNames, ACaseOfAKnownProgram) {
  const SelectionView view = view_of(test_case(1, Framework::GoogleTest, "Old.case", ""), "New.case");
  EXPECT_EQ(render_selection(view, Format::Names), "unit:New.case\nunit:Old.case\n");
  EXPECT_EQ(render_selection(view, Format::GTest),
            "/build/unit --gtest_filter=New.case:*/New.case/*:Old.case\n");
  EXPECT_THAT(left_out_of(view, Format::Names), IsEmpty());
}

TEST(NewTestNames, CasesThatCTestKnowsOneByOne) {
  const SelectionView view =
      view_of(test_case(1, Framework::GoogleTest, "Old.case", "pre.Old.case"), "New.case");
  EXPECT_TRUE(ctest_runs(view, "pre.Old.case"));
  EXPECT_TRUE(ctest_runs(view, "pre.New.case"));
  EXPECT_TRUE(ctest_runs(view, "New.case"));
  EXPECT_TRUE(ctest_runs(view, "Every/New.case/3"));
  EXPECT_FALSE(ctest_runs(view, "pre.New.cases"));
  EXPECT_FALSE(ctest_runs(view, "BrandNew.case"));
}

TEST(NewTestNames, TheProgramWhereCTestKnowsNoCases) {
  const SelectionView view =
      view_of(test_case(1, Framework::GoogleTest, "Old.case", "unit (all)"), "New.case");
  EXPECT_TRUE(ctest_runs(view, "unit (all)"));
  const SelectionView plain = view_of(test_case(1, Framework::CTest, "", "smoke"), "CATCH2_INTERNAL_TEST_3");
  EXPECT_EQ(render_selection(plain, Format::Names), "smoke\n");
  EXPECT_TRUE(ctest_runs(plain, "smoke"));
}

TEST(NewTestNames, AnUnderscoreMayBeTheDot) {
  const SelectionView view =
      view_of(test_case(1, Framework::GoogleTest, "Old.case", "Old.case"), "My.Suite_case");
  EXPECT_TRUE(ctest_runs(view, "My_Suite.case"));
  EXPECT_THAT(render_selection(view, Format::GTest), HasSubstr("My?Suite?case"));
}

TEST(NewTestNames, WhatCannotBeNamedIsSaid) {
  const SelectionView view =
      view_of(test_case(1, Framework::Catch2, "an old one", "an old one"), "CATCH2_INTERNAL_TEST_3");
  EXPECT_THAT(left_out_of(view, Format::Names), ElementsAre("CATCH2_INTERNAL_TEST_3 (new)"));
  EXPECT_THAT(left_out_of(view, Format::CTest), ElementsAre("CATCH2_INTERNAL_TEST_3 (new)"));
  EXPECT_THAT(left_out_of(view, Format::GTest), ElementsAre("CATCH2_INTERNAL_TEST_3 (new)", "an old one"));
  EXPECT_THAT(left_out_of(view, Format::Text), IsEmpty());
}

}  // namespace
}  // namespace simrt::report
