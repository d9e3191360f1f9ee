// Tests whose recorded run enters none of the functions that the change alters.
#include <gmock/gmock.h>

#include "suite.h"

namespace simrt::select {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const SelectOptions kSimRT = with(Technique::SimRT);
const FunctionId kChanged{7}, kAlso{8};

/// A pair on blocks 1 and 2 that a change in the function with blocks 5 and 6 impacts.
Suite change_elsewhere() {
  Suite suite;
  suite.pair(suite.access(1, AccessMode::Write, true), suite.access(2, AccessMode::Read, false));
  suite.test("runs the change", {{"main", {1, 6}}, {"w", {2}}});
  suite.test("several threads run it", {{"main", {1, 5}}, {"w", {2, 5}}});
  suite.test("never runs it", {{"main", {1}}, {"w", {2}}});
  suite.impact.origins = {kChanged};
  suite.function_blocks[kChanged] = {5, 6};
  return suite;
}

TEST(Affected, ATestThatNeverRunsTheChangeCannotShowIt) {
  const Suite suite = change_elsewhere();
  EXPECT_THAT(suite.run(kSimRT), UnorderedElementsAre("runs the change", "several threads run it"));
  const TestId skipped = suite.tests.back().test;
  EXPECT_THAT(explain_skip(suite.input(kSimRT), skipped),
              ElementsAre("enters none of the 1 function that the change alters"));
  for (const Decision& decision : suite.select(kSimRT).decisions) {
    if (decision.test == skipped) {
      EXPECT_THAT(decision.reasons.at(0).text, HasSubstr("enters none of"));
    }
  }
}

TEST(Affected, APairThatOnlySuchTestsCoverIsUncovered) {
  Suite suite = change_elsewhere();
  EXPECT_THAT(suite.select(kSimRT).uncovered, SizeIs(0));
  suite.tests.erase(suite.tests.begin(), suite.tests.begin() + 2);
  EXPECT_THAT(suite.select(kSimRT).uncovered, SizeIs(1));
}

TEST(Affected, AnyOriginWillDo) {
  Suite suite = change_elsewhere();
  suite.impact.origins->push_back(kAlso);
  suite.function_blocks[kAlso] = {1};
  EXPECT_THAT(suite.run(kSimRT), SizeIs(3));
}

TEST(Affected, NothingIsLeftOutWhereTheOriginsAreNotKnown) {
  Suite suite = change_elsewhere();
  suite.impact.origins->push_back(kAlso);  // no test build holds its blocks
  EXPECT_THAT(suite.run(kSimRT), SizeIs(3));
  suite.impact.origins.reset();
  EXPECT_THAT(suite.run(kSimRT), SizeIs(3));
}

TEST(Affected, BaselinesGoByTheirOwnRules) {
  EXPECT_THAT(change_elsewhere().run(with(Technique::SimRTN)), SizeIs(3));
}

}  // namespace
}  // namespace simrt::select
