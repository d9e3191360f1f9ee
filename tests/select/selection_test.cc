// Which tests are selected, and the special cases: unknown blocks, initialisers, forced tests, no coverage.
#include <gmock/gmock.h>

#include "suite.h"

namespace simrt::select {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const SelectOptions kSimRT = with(Technique::SimRT);

const Decision& decision_of(const Suite& suite, const Selection& selection, const std::string& name) {
  for (const Decision& decision : selection.decisions)
    if (suite.name(decision.test) == name) return decision;
  throw std::logic_error("no such test");
}

/// One pair: a write in block 1, a read in block 2.
Suite one_pair() {
  Suite suite;
  suite.pair(suite.access(1, AccessMode::Write, true), suite.access(2, AccessMode::Read, false));
  return suite;
}

TEST(Select, ThreadCondition) {
  Suite suite = one_pair();
  suite.test("one thread", {{"main", {1, 2}}});
  suite.test("two threads", {{"main", {1}}, {"w", {2}}});
  suite.test("one of both by two", {{"main", {1, 2}}, {"w", {2}}});
  suite.test("first only", {{"main", {1}}, {"w", {1}}});
  EXPECT_THAT(suite.run(kSimRT), UnorderedElementsAre("two threads", "one of both by two"));
  EXPECT_THAT(suite.run(with(Technique::SimRTN)),
              UnorderedElementsAre("one thread", "two threads", "one of both by two"));
}

TEST(Select, AWriteAgainstItselfNeedsTwoThreadsOnItsBlock) {
  Suite suite;
  const auto write = suite.access(1, AccessMode::Write, true);
  suite.pair(write, write);
  suite.test("one", {{"main", {1}}, {"w", {2}}});
  suite.test("two", {{"main", {1}}, {"w", {1}}});
  EXPECT_THAT(suite.run(kSimRT), ElementsAre("two"));
}

TEST(Select, NoImpactSelectsNothing) {
  Suite suite;
  suite.test("t", {{"main", {1}}});
  suite.test_without_coverage("u");
  const Selection selection = suite.select(kSimRT);
  ASSERT_EQ(selection.decisions.size(), 2u);
  for (const Decision& decision : selection.decisions) {
    EXPECT_FALSE(decision.run);
    EXPECT_EQ(decision.rank, 0u);
    ASSERT_FALSE(decision.reasons.empty());
  }
}

TEST(Select, EveryDecisionHasAReason) {
  Suite suite = one_pair();
  suite.test("yes", {{"main", {1}}, {"w", {2}}});
  suite.test("no", {{"main", {1}}});
  for (Technique technique : {Technique::SimRT, Technique::SimRTN, Technique::Rtsc, Technique::Rta})
    for (const Decision& decision : suite.select(with(technique)).decisions)
      EXPECT_FALSE(decision.reasons.empty());
}

TEST(Select, UncoveredPairsAreReportedWhateverTheTechnique) {
  Suite suite = one_pair();
  suite.pair(suite.access(3, AccessMode::Write, true), 0);
  suite.test("one thread", {{"main", {1, 2}}});
  EXPECT_THAT(suite.select(kSimRT).uncovered, ElementsAre(0u, 1u));
  EXPECT_THAT(suite.select(with(Technique::SimRTN)).uncovered, ElementsAre(0u, 1u));
  suite.test("two threads", {{"main", {1}}, {"w", {2}}});
  EXPECT_THAT(suite.select(kSimRT).uncovered, ElementsAre(1u));
}

TEST(Select, ForcedReasonsSelectButCoverNothing) {
  Suite suite = one_pair();
  suite.test("failed", {{"main", {1, 2}}});
  suite.force("failed", ReasonKind::LastRunFailed);
  const Selection selection = suite.select(kSimRT);
  ASSERT_TRUE(selection.decisions[0].run);
  EXPECT_EQ(selection.decisions[0].pairs, 0u);
  EXPECT_EQ(selection.decisions[0].reasons.at(0).kind, ReasonKind::LastRunFailed);
  EXPECT_THAT(selection.uncovered, ElementsAre(0u));
}

TEST(Select, ATestWithoutCoverageRunsWhenThereIsAnythingToCover) {
  Suite suite = one_pair();
  suite.test_without_coverage("blind");
  const Selection selection = suite.select(kSimRT);
  EXPECT_TRUE(selection.decisions[0].run);
  EXPECT_EQ(selection.decisions[0].reasons.at(0).kind, ReasonKind::NoCoverage);
}

TEST(Select, UnknownBlockCountsAsCoveredByAnyThreadOfTheTestsThatCoverTheOther) {
  Suite suite;
  suite.pair(suite.access(Suite::kNoBlock, AccessMode::Write, true),
             suite.access(2, AccessMode::Read, false));
  suite.test("other side", {{"main", {2}}});
  suite.test("elsewhere", {{"main", {3}}, {"w", {4}}});
  const Selection selection = suite.select(kSimRT);
  EXPECT_THAT(suite.run(kSimRT), ElementsAre("other side"));
  const Decision& decision = decision_of(suite, selection, "other side");
  EXPECT_EQ(decision.pairs, 1u);
  EXPECT_EQ(decision.reasons.at(0).kind, ReasonKind::UnknownChange);
  EXPECT_THAT(selection.uncovered, IsEmpty());
}

TEST(Select, TwoUnknownBlocksSelectEveryTest) {
  Suite suite;
  const auto write = suite.access(Suite::kNoBlock, AccessMode::Write, true);
  suite.pair(write, write);
  suite.test("a", {{"main", {2}}});
  suite.test("b", {});
  suite.test_without_coverage("c");
  EXPECT_THAT(suite.run(kSimRT), UnorderedElementsAre("a", "b", "c"));
}

TEST(Select, InitialisersRunOnTheMainThreadOfEveryTest) {
  Suite suite;
  const auto init = suite.access(Suite::kInitialiser, AccessMode::Write, true);
  suite.pair(init, suite.access(2, AccessMode::Read, false));
  suite.pair(init, init);
  suite.test("main only", {{"main", {2}}});
  suite.test("worker", {{"main", {3}}, {"w", {2}}});
  suite.test("worker, main without blocks", {{"w", {2}}});
  suite.test("both", {{"main", {2}}, {"w", {2}}});
  EXPECT_THAT(suite.run(kSimRT), UnorderedElementsAre("worker", "worker, main without blocks", "both"));
  EXPECT_THAT(suite.select(kSimRT).uncovered, ElementsAre(1u)) << "main never races with itself";
  const Selection selection = suite.select(kSimRT);
  EXPECT_EQ(decision_of(suite, selection, "worker").reasons.at(0).first_thread, "main");
  EXPECT_EQ(decision_of(suite, selection, "worker").reasons.at(0).second_thread, "w");
}

TEST(Select, UnknownFunctionSelectsTheTestsThatEnterIt) {
  Suite suite;
  suite.function_blocks[FunctionId{5}] = {7, 8};
  suite.impact.unknowns.push_back({"g could not be analysed", "g.cc", FunctionId{5}});
  suite.test("in g", {{"main", {8}}});
  suite.test("not in g", {{"main", {1}}});
  const Selection selection = suite.select(kSimRT);
  EXPECT_THAT(suite.run(kSimRT), ElementsAre("in g"));
  EXPECT_EQ(selection.decisions[0].reasons.at(0).text, "g could not be analysed (g.cc)");
}

TEST(Select, UnknownFunctionOfARenamedFileIsLookedUpByItsOldId) {
  Suite suite;
  suite.function_blocks[FunctionId{5}] = {7};
  FunctionDiff moved;
  moved.id = FunctionId{6};
  moved.old_id = FunctionId{5};
  suite.diff.functions.push_back(moved);
  suite.impact.unknowns.push_back({"?", "", FunctionId{6}});
  suite.test("in it", {{"main", {7}}});
  suite.test("not in it", {{"main", {1}}});
  EXPECT_THAT(suite.run(kSimRT), ElementsAre("in it"));
}

TEST(Select, UnknownFileOrUnrecordedFunctionSelectsEveryTest) {
  for (FunctionId function : {FunctionId{}, FunctionId{99}}) {
    Suite suite;
    suite.impact.unknowns.push_back({"parse errors", "g.cc", function});
    suite.test("a", {{"main", {8}}});
    suite.test_without_coverage("b");
    EXPECT_THAT(suite.run(kSimRT), UnorderedElementsAre("a", "b"));
    EXPECT_EQ(suite.select(kSimRT).decisions[0].reasons.at(0).kind, ReasonKind::UnknownChange);
  }
}

TEST(Select, ManyUnknownsAreSummed) {
  Suite suite;
  for (int i = 0; i < 20; ++i) suite.impact.unknowns.push_back({"unknown " + std::to_string(i), "", {}});
  suite.test("a", {{"main", {8}}});
  const auto reasons = suite.select(kSimRT).decisions[0].reasons;
  ASSERT_EQ(reasons.size(), 6u);
  EXPECT_EQ(reasons.back().text, "and 15 more");
}

TEST(Rtsc, DangerousBlocksSelectAnyThread) {
  Suite suite;
  FunctionDiff changed;
  changed.id = changed.old_id = FunctionId{77};
  changed.dangerous = {4};
  suite.diff.functions.push_back(changed);
  suite.test("enters", {{"w", {4, 5}}});
  suite.test("by several", {{"main", {4}}, {"w", {4}}});
  suite.test("does not", {{"main", {5}}});
  EXPECT_THAT(suite.run(with(Technique::Rtsc)), UnorderedElementsAre("enters", "by several"));
}

TEST(Rtsc, UnmappedDangerousBlockSelectsByFunction) {
  Suite suite;
  FunctionDiff changed;
  changed.id = changed.old_id = FunctionId{5};
  changed.dangerous = {4};
  suite.diff.functions.push_back(changed);
  suite.function_blocks[FunctionId{5}] = {7};
  suite.test("in the function", {{"w", {7}}});
  suite.test("elsewhere", {{"main", {4}}});
  EXPECT_THAT(suite.run(with(Technique::Rtsc)), ElementsAre("in the function"));
}

}  // namespace
}  // namespace simrt::select
