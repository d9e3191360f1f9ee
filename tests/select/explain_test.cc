#include <gmock/gmock.h>

#include "suite.h"

namespace simrt::select {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const SelectOptions kSimRT = with(Technique::SimRT);

Suite three_pairs() {
  Suite suite;
  const auto write = suite.access(1, AccessMode::Write, true);  // a.cc:1
  const auto read = suite.access(2, AccessMode::Read, false);   // a.cc:2
  const auto far = suite.access(3, AccessMode::Read, false);    // a.cc:3
  suite.pair(write, far);
  suite.pair(write, read);
  suite.pair(write, write);
  return suite;
}

TEST(ExplainSkip, NearestMissesFirst) {
  Suite suite = three_pairs();
  suite.test("t", {{"main", {1, 2}}, {"w", {9}}});
  EXPECT_THAT(
      explain_skip(suite.input(kSimRT), test_id("t")),
      ElementsAre("one and the same thread, main, reaches both write at a.cc:1:1 and read at a.cc:2:1",
                  "only thread main reaches write at a.cc:1:1 (and write at a.cc:1:1); it takes two",
                  "reaches write at a.cc:1:1 (thread main), but not read at a.cc:3:1"));
}

TEST(ExplainSkip, NeitherSide) {
  Suite suite = three_pairs();
  suite.test("t", {{"w", {9}}});
  const auto lines = explain_skip(suite.input(kSimRT), test_id("t"), 1);
  EXPECT_THAT(lines,
              ElementsAre("reaches neither write at a.cc:1:1 nor read at a.cc:3:1", "and 2 more pairs"));
}

TEST(ExplainSkip, CasesWithoutPairs) {
  Suite suite;
  suite.test("t", {{"w", {9}}});
  suite.test_without_coverage("blind");
  EXPECT_THAT(explain_skip(suite.input(kSimRT), test_id("t")),
              ElementsAre("the change has no impacted pair"));
  EXPECT_THAT(explain_skip(suite.input(kSimRT), test_id("blind")),
              ElementsAre("no usable coverage of it is recorded"));
  EXPECT_THAT(explain_skip(suite.input(kSimRT), test_id("never heard of")),
              ElementsAre("no such test is recorded"));
  EXPECT_THAT(explain_skip(suite.input(with(Technique::Rtsc)), test_id("t")), SizeIs(1));
}

TEST(ExplainRun, GivesAllPairsWhereSelectStopsAtTheLimit) {
  Suite suite;
  const auto write = suite.access(1, AccessMode::Write, true);
  for (int i = 0; i < 30; ++i) suite.pair(write, suite.access(2, AccessMode::Read, false));
  suite.test("t", {{"main", {1}}, {"w", {2}}});
  suite.test("u", {{"main", {1}}});
  SelectOptions options = kSimRT;
  options.pair_reasons = 5;
  EXPECT_THAT(suite.select(options).decisions[0].reasons, SizeIs(5));
  EXPECT_EQ(suite.select(options).decisions[0].pairs, 30u);
  const auto reasons = explain_run(suite.input(options), test_id("t"));
  ASSERT_THAT(reasons, SizeIs(30));
  EXPECT_EQ(reasons[29].pair, 29u);
  EXPECT_EQ(reasons[0].text, "write at a.cc:1:1 by thread main, read at a.cc:2:1 by thread w");
  EXPECT_THAT(explain_run(suite.input(options), test_id("u")), IsEmpty());
  EXPECT_THAT(explain_run(suite.input(options), test_id("never heard of")), IsEmpty());
}

}  // namespace
}  // namespace simrt::select
