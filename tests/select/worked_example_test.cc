// The paper's worked example, class HM: has to come out exactly.
#include <gmock/gmock.h>

#include <set>

#include "select/apfd.h"
#include "suite.h"

namespace simrt::select {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// Blocks of p. containsValue: its beginning, the branch for null (new code maps here), the loop for a value.
/// clear: before the lock (where ++modCount comes to stand), and the loop under it.
enum : BlockNumber { kContainsBegin = 1, kContainsNull, kContainsLoop, kClearBegin, kClearLoop };

const std::vector<BlockNumber> kClear{kClearBegin, kClearLoop};
const std::vector<BlockNumber> kContainsNullCall{kContainsBegin, kContainsNull};
const std::vector<BlockNumber> kContainsValueCall{kContainsBegin, kContainsLoop};

Suite worked_example() {
  Suite suite;
  const auto sv1 = suite.access(kContainsBegin, AccessMode::Read, false);  // table
  suite.access(kContainsNull, AccessMode::Read, true);                     // sv2: table
  const auto sv3 = suite.access(kContainsNull, AccessMode::Read, true);    // element of table
  suite.access(kContainsNull, AccessMode::Read, true);                     // sv4: next
  suite.access(kClearBegin, AccessMode::Read, false);                      // sv5: table
  const auto sv6 = suite.access(kClearLoop, AccessMode::Write, false);     // element of table
  const auto sv7 = suite.access(kClearBegin, AccessMode::Read, true);      // modCount
  const auto sv8 = suite.access(kClearBegin, AccessMode::Write, true);     // modCount
  (void)sv1;
  suite.pair(sv3, sv6);
  suite.pair(sv7, sv8);
  suite.pair(sv8, sv8);
  suite.test("tc1", {{"A", kClear}, {"B", kContainsNullCall}});
  suite.test("tc2", {{"A", kClear}, {"B", kContainsNullCall}});
  suite.test("tc3", {{"A", kClear}, {"B", kClear}});
  suite.test("tc4", {{"A", kClear}, {"B", kContainsValueCall}});
  suite.test("tc5", {{"A", kContainsNullCall}, {"B", kContainsNullCall}});
  suite.test("tc6", {{"A", kContainsValueCall}, {"B", kContainsValueCall}});
  // Dangerous: clear() from its beginning on; what follows the test for null in containsValue().
  FunctionDiff clear, contains;
  clear.id = clear.old_id = FunctionId{77};
  clear.status = FunctionStatus::Changed;
  clear.dangerous = {kClearBegin};
  contains = clear;
  contains.dangerous = {kContainsBegin};
  suite.diff.functions = {contains, clear};
  return suite;
}

TEST(WorkedExample, SimRTSelectsThree) {
  EXPECT_THAT(worked_example().run(with(Technique::SimRT)), UnorderedElementsAre("tc1", "tc2", "tc3"));
  EXPECT_THAT(worked_example().select(with(Technique::SimRT)).uncovered, IsEmpty());
}

TEST(WorkedExample, OrderForEverySeed) {
  const Suite suite = worked_example();
  std::set<std::vector<std::string>> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (Ranking ranking : {Ranking::Pairs, Ranking::Cost}) {
      const auto order = suite.listed(with(Technique::SimRT, ranking, true, seed));
      EXPECT_THAT(order, AnyOf(ElementsAre("tc3", "tc1", "tc2", "tc5", "tc4", "tc6"),
                               ElementsAre("tc3", "tc2", "tc1", "tc5", "tc4", "tc6")))
          << "seed " << seed;
      EXPECT_EQ(order, suite.listed(with(Technique::SimRT, ranking, true, seed)));
      orders.insert(order);
    }
  }
  EXPECT_EQ(orders.size(), 2u) << "the tie is drawn by the seed";
}

TEST(WorkedExample, DecisionsSayHowTheListCameAbout) {
  const Suite suite = worked_example();
  const Selection selection = suite.select(with(Technique::SimRT, Ranking::Pairs, true));
  ASSERT_EQ(selection.decisions.size(), 6u);
  const Decision& first = selection.decisions[0];
  EXPECT_EQ(suite.name(first.test), "tc3");
  EXPECT_EQ(first.rank, 1u);
  EXPECT_EQ(first.pairs, 2u);
  EXPECT_EQ(first.new_pairs, 2u);
  ASSERT_EQ(first.reasons.size(), 2u);
  EXPECT_EQ(first.reasons[0].kind, ReasonKind::Pair);
  EXPECT_EQ(first.reasons[0].pair, 1u);
  EXPECT_EQ(first.reasons[0].first_thread, "several");
  const Decision& second = selection.decisions[1];
  EXPECT_EQ(second.new_pairs, 1u);
  ASSERT_EQ(second.reasons.size(), 1u);
  EXPECT_EQ(second.reasons[0].first_thread, "B");
  EXPECT_EQ(second.reasons[0].second_thread, "A");
  EXPECT_EQ(selection.decisions[2].new_pairs, 1u) << "after the start-over its pair counts again";
  EXPECT_FALSE(selection.decisions[3].run);
  EXPECT_EQ(selection.decisions[3].tier, Tier::ImpactedAccess);
  EXPECT_EQ(selection.decisions[4].tier, Tier::ImpactedAccess);
  EXPECT_EQ(selection.decisions[5].tier, Tier::SharedAccessOnly);
  EXPECT_EQ(selection.decisions[5].reasons.at(0).kind, ReasonKind::NotCovered);
}

TEST(WorkedExample, WithoutTheThreadConditionTc4IsSelectedToo) {
  EXPECT_THAT(worked_example().run(with(Technique::SimRTN)),
              UnorderedElementsAre("tc1", "tc2", "tc3", "tc4"));
}

TEST(WorkedExample, DejaVuAndRetestAllSelectAllSix) {
  EXPECT_THAT(worked_example().run(with(Technique::Rtsc)),
              UnorderedElementsAre("tc1", "tc2", "tc3", "tc4", "tc5", "tc6"));
  EXPECT_THAT(worked_example().run(with(Technique::Rta)),
              UnorderedElementsAre("tc1", "tc2", "tc3", "tc4", "tc5", "tc6"));
}

TEST(WorkedExample, RunningTwoTestsRevealsAllThreeRaces) {
  const Suite suite = worked_example();
  const auto order = suite.listed(with(Technique::SimRT, Ranking::Pairs, true));
  // Race i is that of pair i; tc3 covers pairs 1 and 2, tc1 and tc2 pair 0.
  std::vector<std::vector<std::size_t>> revealing(3);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == "tc3") revealing[1].push_back(i), revealing[2].push_back(i);
    if (order[i] == "tc1" || order[i] == "tc2") revealing[0].push_back(i);
  }
  EXPECT_DOUBLE_EQ(apfd(6, revealing).value(), 1 - 4.0 / 18 + 1.0 / 12);
}

}  // namespace
}  // namespace simrt::select
