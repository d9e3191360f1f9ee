// How accesses become pairs, and what is done where they would be too many.
#include "impact/pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

TEST(Pairs, CoarsePairsAskForTheSameCoverage) {
  EXPECT_EQ(targets_of(impact_with(50)), targets_of(impact_with(1'000'000)));
}

Candidate candidate(std::uint32_t line, AccessMode mode, bool impacted, std::uint64_t alias_class = 1,
                    std::uint32_t block = 1, std::uint64_t type = 0) {
  Candidate result;
  result.access.file = "a.cc";
  result.access.at = {line, 1};
  result.access.mode = mode;
  result.access.impacted = impacted;
  result.access.alias_class = alias_class;
  result.access.block = {function_id("f"), block};
  result.type = type;
  return result;
}

TEST(Pairs, OneImpactedOneWriteSameClassAWriteWithItself) {
  Impact impact;
  pair_accesses({candidate(1, AccessMode::Read, true), candidate(2, AccessMode::Write, true),
                 candidate(3, AccessMode::Read, false), candidate(4, AccessMode::Write, false),
                 candidate(5, AccessMode::Write, true, 2), candidate(6, AccessMode::Read, false, 3)},
                {}, {}, impact);
  EXPECT_THAT(impact.accesses, SizeIs(5));  // the read of class 3 has no impacted partner
  EXPECT_THAT(impact.pairs, ElementsAre(AccessPair{0, 1}, AccessPair{0, 3}, AccessPair{1, 1},
                                        AccessPair{1, 2}, AccessPair{1, 3}, AccessPair{4, 4}));
}

TEST(Pairs, ReadsOnlyMakeNone) {
  Impact impact;
  pair_accesses({candidate(1, AccessMode::Read, true), candidate(2, AccessMode::Read, false)}, {}, {},
                impact);
  EXPECT_THAT(impact.pairs, IsEmpty());
  EXPECT_THAT(impact.accesses, SizeIs(1));
}

TEST(Pairs, KnownDifferentTypesDoNotPair) {
  Impact impact;
  pair_accesses(
      {candidate(1, AccessMode::Write, true, 1, 1, 7), candidate(2, AccessMode::Read, false, 1, 1, 8),
       candidate(3, AccessMode::Read, false, 1, 1, 0)},
      {}, {}, impact);
  EXPECT_THAT(impact.pairs, ElementsAre(AccessPair{0, 0}, AccessPair{0, 1}));
}

/// Accesses of every kind: known block, set of sites, new thread, unknown; several types and classes.
std::vector<Candidate> mixture(std::uint32_t seed, SiteSets& sites) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i < 60; ++i) {
    candidates.push_back(candidate(i + 1, below(3) != 0 ? AccessMode::Read : AccessMode::Write, below(4) == 0,
                                   1 + below(2), below(12), below(3)));
    Candidate& made = candidates.back();
    made.before_publication = !made.access.impacted && below(8) == 0;
    const std::uint32_t kind = below(6);
    if (kind < 3) continue;
    made.access.block = {};
    if (kind == 3) continue;
    std::set<BlockId> blocks;
    for (std::uint32_t n = 0; n <= below(3); ++n) blocks.insert({function_id("g"), below(9)});
    made.access.site_role = kind == 4 ? SiteRole::RunsFrom : SiteRole::StartedBehind;
    made.access.sites = sites.add({blocks.begin(), blocks.end()});
  }
  return candidates;
}

Impact paired(std::uint32_t seed, std::size_t limit) {
  SiteSets sites;
  std::vector<Candidate> candidates = mixture(seed, sites);
  ImpactOptions options;
  options.max_pairs_per_class = options.max_targets = limit;
  Impact impact;
  pair_accesses(std::move(candidates), std::move(sites), options, impact);
  return impact;
}

TEST(Pairs, WhateverIsPutTogetherTheTargetsStayTheSame) {
  std::size_t fewer = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Impact exact = paired(seed, 1'000'000), coarse = paired(seed, 40);
    EXPECT_EQ(targets_of(coarse), targets_of(exact)) << seed;
    fewer += coarse.pairs.size() < exact.pairs.size() / 2;
    // Every place that the exact pairs name is still there: the checks watch them.
    std::set<std::uint32_t> lines;
    for (const SharedAccess& access : coarse.accesses) lines.insert(access.at.line);
    for (const SharedAccess& access : exact.accesses) EXPECT_TRUE(lines.contains(access.at.line)) << seed;
  }
  EXPECT_GT(fewer, 100U);
}

}  // namespace
}  // namespace simrt::impact
