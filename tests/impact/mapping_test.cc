// Block mapping, pairs and unknowns: from marked accesses to coverage targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact/pairs.h"
#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::set<BlockId> blocks_of(const ImpactCase& change, const std::string& line) {
  std::set<BlockId> blocks;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.line(access) == line) blocks.insert(access.block);
  return blocks;
}

const std::string kTwoCallers = R"(
var x int
fn a()
B2 -> B1
  text one
B1 -> B0
  #a text two
fn b()
B1 -> B0
  #b text three
)";

TEST(Mapping, NewFunctionMapsToEveryNearestExistingCaller) {
  const ImpactCase change(
      kTwoCallers,
      edit(kTwoCallers, {{"#a text two", "#a call fresh()"}, {"#b text three", "#b call middle()"}}) +
          "fn middle()\nB1 -> B0\n  call fresh()\nfn fresh()\nB1 -> B0\n  W x\n");
  EXPECT_THAT(blocks_of(change, "fresh W x"),
              ElementsAre(BlockId{std::min(function_id("a"), function_id("b")), 1},
                          BlockId{std::max(function_id("a"), function_id("b")), 1}));
  EXPECT_THAT(change.impact.pairs, SizeIs(3));
}

TEST(Mapping, NewThreadEntryIsUnknownAndNarrowedToTheBlockThatStartsIt) {
  const ImpactCase change(kTwoCallers,
                          edit(kTwoCallers, {{"#a text two", "#a spawn fresh()"}}) +
                              "fn fresh()\nB1 -> B0\n  call deep()\nfn deep()\nB1 -> B0\n  W x\n");
  ASSERT_NE(change.find("deep W x"), nullptr);
  EXPECT_EQ(change.find("deep W x")->block, BlockId{});
  EXPECT_EQ(change.find("deep W x")->mapped_function, function_id("a"));
  EXPECT_EQ(change.find("deep W x")->reached_from, (BlockId{function_id("a"), 1}));
}

TEST(Mapping, NewBlockMapsToWhereTheWalkStopped) {
  const ImpactCase change(
      kTwoCallers,
      edit(kTwoCallers, {{"B2 -> B1\n  text one\n", "B2 -> B3 T, B1 F\n  text one\nB3=B1 -> B1\n  W x\n"}}));
  EXPECT_THAT(blocks_of(change, "a W x"), ElementsAre(BlockId{function_id("a"), 1}));
}

TEST(Mapping, MovedFunctionKeepsTheOldIdentity) {
  const Program before = parse_program("var x int\nfn old()\nB1 -> B0\n  W x\nfn use()\nB1 -> B0\n  R x\n");
  const Program after =
      parse_program("var x int\nfn fresh()\nB1 -> B0\n  W x\nfn use()\nB1 -> B0\n  R x\n  R x\n");
  ProgramDiff diff = diff_texts(before, after);
  std::erase_if(diff.functions, [](const FunctionDiff& f) { return f.status == FunctionStatus::Removed; });
  for (FunctionDiff& f : diff.functions)
    if (f.status == FunctionStatus::Added)
      f.status = FunctionStatus::Unchanged, f.old_id = function_id("old");
  const Impact impact = analyse_impact(before, after, diff);
  bool found = false;
  for (const SharedAccess& access : impact.accesses) {
    if (access.function != function_id("fresh")) continue;
    found = true;
    EXPECT_FALSE(access.impacted);
    EXPECT_EQ(access.block, (BlockId{function_id("old"), 1}));
  }
  EXPECT_TRUE(found);
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
                1000, false, impact);
  EXPECT_THAT(impact.accesses, SizeIs(5));  // the read of class 3 has no impacted partner
  EXPECT_THAT(impact.pairs, ElementsAre(AccessPair{0, 1}, AccessPair{0, 3}, AccessPair{1, 1},
                                        AccessPair{1, 2}, AccessPair{1, 3}, AccessPair{4, 4}));
}

TEST(Pairs, ReadsOnlyMakeNone) {
  Impact impact;
  pair_accesses({candidate(1, AccessMode::Read, true), candidate(2, AccessMode::Read, false)}, 1000, false,
                impact);
  EXPECT_THAT(impact.pairs, IsEmpty());
  EXPECT_THAT(impact.accesses, SizeIs(1));
}

TEST(Pairs, KnownDifferentTypesDoNotPair) {
  Impact impact;
  pair_accesses(
      {candidate(1, AccessMode::Write, true, 1, 1, 7), candidate(2, AccessMode::Read, false, 1, 1, 8),
       candidate(3, AccessMode::Read, false, 1, 1, 0)},
      1000, false, impact);
  EXPECT_THAT(impact.pairs, ElementsAre(AccessPair{0, 0}, AccessPair{0, 1}));
}

/// The coverage targets of a list of pairs: what the selection depends on.
std::set<std::pair<BlockId, BlockId>> targets(const Impact& impact) {
  std::set<std::pair<BlockId, BlockId>> result;
  for (const AccessPair& pair : impact.pairs) {
    const BlockId a = impact.accesses[pair.first].block, b = impact.accesses[pair.second].block;
    result.insert({std::min(a, b), std::max(a, b)});
  }
  return result;
}

TEST(Pairs, MergingAHugeClassKeepsEveryCoverageTarget) {
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i < 300; ++i)
    candidates.push_back(
        candidate(i + 1, i % 3 ? AccessMode::Read : AccessMode::Write, i % 7 == 0, 1, i % 11));
  Impact all, merged;
  pair_accesses(candidates, 1'000'000, false, all);
  pair_accesses(candidates, 100, false, merged);
  EXPECT_LT(merged.pairs.size(), all.pairs.size() / 10);
  EXPECT_EQ(targets(merged), targets(all));
}

TEST(Unknowns, UnitThatStopsParsingIsReportedOnce) {
  const std::string text = "var x int\nfn f()\nB1 -> B0\n  W x\n";
  const Program before = parse_program(text);
  Program after = parse_program(text);
  after.units[0].errors = 2;
  const Impact impact = analyse_impact(before, after, {});
  ASSERT_THAT(impact.unknowns, SizeIs(1));
  EXPECT_EQ(impact.unknowns[0].file, "unit.cc");
  EXPECT_THAT(analyse_impact(after, after, {}).unknowns, IsEmpty());  // broken before and not touched
}

TEST(Unknowns, BrokenFunction) {
  const std::string text = "var x int\nfn f()\nB1 -> B0\n  W x\n  R x\n";
  const ImpactCase change(text, edit(text, {{"fn f()", "fn f() !broken"}}));
  ASSERT_THAT(change.impact.unknowns, SizeIs(1));
  EXPECT_EQ(change.impact.unknowns[0].function, function_id("f"));
  EXPECT_EQ(change.rule("f R x"), ImpactRule::Unknown);
}

TEST(Unknowns, PointerCallWithoutTarget) {
  const std::string text = "fn f(g)\nB1 -> B0\n  #c text none\n";
  const ImpactCase change(text, edit(text, {{"#c text none", "#c icall g(0)"}}));
  ASSERT_THAT(change.impact.unknowns, SizeIs(1));
  EXPECT_EQ(change.impact.unknowns[0].what, "call through g in f has no known target");
}

TEST(Unknowns, InstantiationThatWasNotParsedAgain) {
  const std::string text =
      "var x int\nfn box()\nB1 -> B0\n  #p text old\nfn box<int>() pattern=box\nB1 -> B0\n  W x\n";
  const ImpactCase change(text, edit(text, {{"#p text old", "#p text new"}}));
  EXPECT_EQ(change.rule("box<int> W x"), ImpactRule::Unknown);
}

}  // namespace
}  // namespace simrt::impact
