// How accesses become pairs, and what is done where they would be too many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

constexpr int kFunctions = 30;

/// Functions that all read and write x; `changed` of them get another statement before it.
std::string accessors(int changed) {
  std::string text = "var x int\n";
  for (int f = 0; f < kFunctions; ++f)
    text += "fn f" + std::to_string(f) + "()\nB1 -> B0\n" +
            (f < changed ? "  #w W x release\n" : "  #w W x\n") + "  R x\n";
  return text;
}

Impact impact_with(std::size_t max_targets) {
  ImpactOptions options;
  options.max_pairs_per_class = max_targets;
  options.max_targets = max_targets;
  return ImpactCase(accessors(0), accessors(10), options).impact;
}

TEST(Pairs, AClassWithTooManyPairsStaysLinear) {
  const Impact exact = impact_with(1'000'000), coarse = impact_with(50);
  EXPECT_GT(exact.pairs.size(), 300U);
  EXPECT_LE(coarse.pairs.size(), static_cast<std::size_t>(2 * kFunctions));
  std::size_t impacted = 0, stand_ins = 0;
  for (std::uint32_t i = 0; i < coarse.accesses.size(); ++i) {
    const SharedAccess& access = coarse.accesses[i];
    stand_ins += access.stands_for != 0;
    if (!access.impacted) continue;
    ++impacted;
    bool paired = false;
    for (const AccessPair& pair : coarse.pairs) {
      if (pair.first != i && pair.second != i) continue;
      paired = paired || coarse.accesses[pair.first == i ? pair.second : pair.first].stands_for >= kFunctions;
    }
    EXPECT_TRUE(paired) << i;
  }
  EXPECT_GE(impacted, 10U);
  EXPECT_EQ(stand_ins, 1U);  // a write is partner enough for reads and writes
}

TEST(Pairs, EveryImpactedAccessOfTheExactPairsIsInTheCoarseOnes) {
  const auto blocks = [](const Impact& impact) {
    std::set<BlockId> found;
    for (const AccessPair& pair : impact.pairs)
      for (std::uint32_t side : {pair.first, pair.second})
        if (impact.accesses[side].impacted) found.insert(impact.accesses[side].block);
    return found;
  };
  EXPECT_EQ(blocks(impact_with(50)), blocks(impact_with(1'000'000)));
}

}  // namespace
}  // namespace simrt::impact
