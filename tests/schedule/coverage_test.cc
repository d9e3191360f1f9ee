#include "schedule/patterns/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executions.h"

namespace simrt::schedule {
namespace {

Execution paper_execution() {
  ExecutionBuilder builder;
  builder.read(1, 0x10, "s4").write(2, 0x10, "s9").read(1, 0x10, "s5");
  return builder.get();
}

TEST(Coverage, WorkedExampleOfThePaperIsThreeOfSixteen) {
  AccessTable table;
  table.add(paper_execution());
  PatternCoverage coverage;
  EXPECT_EQ(coverage.add(recognise(paper_execution())), 3U);
  EXPECT_EQ(table.total(), 16U);
  EXPECT_EQ(coverage.size(), 3U);
  EXPECT_DOUBLE_EQ(static_cast<double>(coverage.size()) / static_cast<double>(table.total()), 0.1875);
}

TEST(Coverage, TotalOverTwoVariablesIsTheFormula) {
  ExecutionBuilder builder;  // x: one reader, two writers; y: two readers, one writer
  builder.read(1, 0x10, "xr").write(1, 0x10, "xw1").write(2, 0x10, "xw2");
  builder.read(1, 0x20, "yr1").read(1, 0x20, "yr2").write(2, 0x20, "yw");
  AccessTable table;
  table.add(builder.get());
  const std::uint64_t x = 2 * 1 * 2 + 4 + 1 * 2 + 3 * 1 * 4 + 8, y = 2 * 2 * 1 + 1 + 4 * 1 + 3 * 2 * 1 + 1;
  const std::uint64_t pairs = 2 * (3 * (4 * 1) + 6 * (1 * 2) * (2 * 1));
  EXPECT_EQ(table.total_one_variable(), x + y);
  EXPECT_EQ(table.total_two_variables(), pairs);
  EXPECT_EQ(table.total(), x + y + pairs);
}

TEST(Coverage, AddressesOfOneVariableCountOnce) {
  ExecutionBuilder one, other;
  one.read(1, 0x10, "r").write(2, 0x10, "w");
  other.read(1, 0x990, "r").write(2, 0x990, "w");
  AccessTable a, b;
  a.add(one.get());
  b.add(other.get());
  const std::uint64_t alone = a.total();
  a.merge(b);
  EXPECT_EQ(a.total(), alone);
  EXPECT_EQ(a.variables().size(), 1U);
}

TEST(Coverage, TwoObjectsOfOneClassPairWithEachOther) {
  ExecutionBuilder builder;
  for (const std::uint64_t object : {0x10, 0x20}) builder.write(1, object, "w").write(2, object, "w");
  AccessTable table;
  table.add(builder.get());
  EXPECT_EQ(table.total_two_variables(), 3U);
  EXPECT_LE(recognise(builder.get()).instances.size(), table.total());
}

TEST(Coverage, MergeAndImpact) {
  PatternCoverage one, other;
  one.add(recognise(paper_execution()));
  EXPECT_EQ(other.merge(one), 3U);
  EXPECT_EQ(other.merge(one), 0U);
  EXPECT_EQ(one.impacted({site_id("s5")}).size(), 2U);
  EXPECT_EQ(one.within({site_id("s4"), site_id("s9")}).size(), 1U);
  one.forget({site_id("s5")});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(other.sorted()));
}

TEST(Coverage, MethodPairsNeedAnOverlap) {
  const std::map<SiteId, FunctionId> methods{{site_id("a"), {1}}, {site_id("b"), {2}}};
  ExecutionBuilder apart, overlapping;
  apart.read(1, 0x10, "a").read(1, 0x10, "a").write(2, 0x10, "b").write(2, 0x10, "b");
  overlapping.read(1, 0x10, "a").write(2, 0x10, "b").read(1, 0x10, "a");
  MethodPairCoverage coverage;
  coverage.add(apart.get(), methods);
  EXPECT_TRUE(coverage.pairs().empty());
  coverage.add(overlapping.get(), methods);
  coverage.add(overlapping.get(), methods);
  ASSERT_EQ(coverage.pairs().size(), 1U);
  EXPECT_EQ(coverage.pairs().begin()->second, 2U);
}

}  // namespace
}  // namespace simrt::schedule
