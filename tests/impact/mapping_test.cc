// Block mapping, pairs and unknowns: from marked accesses to coverage targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::set<BlockId> blocks_of(const ImpactCase& change, const std::string& line) {
  std::set<BlockId> blocks;
  for (const SharedAccess& access : change.impact.accesses)
    if (change.line(access) == line) blocks.merge(change.blocks(access));
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
  // One access with both sites: whoever covers one of them makes it.
  EXPECT_EQ(change.find("fresh W x")->site_role, SiteRole::RunsFrom);
  EXPECT_THAT(change.impact.pairs, ElementsAre(AccessPair{0, 0}));
}

TEST(Mapping, NewThreadEntryIsUnknownAndNarrowedToTheBlockThatStartsIt) {
  const ImpactCase change(kTwoCallers,
                          edit(kTwoCallers, {{"#a text two", "#a spawn fresh()"}}) +
                              "fn fresh()\nB1 -> B0\n  call deep()\nfn deep()\nB1 -> B0\n  W x\n");
  ASSERT_NE(change.find("deep W x"), nullptr);
  EXPECT_EQ(change.find("deep W x")->block, BlockId{});
  EXPECT_EQ(change.find("deep W x")->mapped_function, function_id("a"));
  EXPECT_EQ(change.find("deep W x")->site_role, SiteRole::StartedBehind);
  EXPECT_THAT(blocks_of(change, "deep W x"), ElementsAre(BlockId{function_id("a"), 1}));
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

TEST(Mapping, AFunctionNewlyReachedFromManyCallsIsOneAccessWithThoseSites) {
  std::string before = "var x int\nfn used()\nB1 -> B0\n  W x\n", after = before;
  std::set<BlockId> sites{{function_id("used"), 1}};
  for (int i = 0; i < 40; ++i) {
    const std::string name = "f" + std::to_string(i);
    before += "fn " + name + "()\nB1 -> B0\n  text old\n";
    after += "fn " + name + "()\nB1 -> B0\n  call used()\n";
    sites.insert({function_id(name), 1});
  }
  const ImpactCase change(before, after);
  EXPECT_EQ(blocks_of(change, "used W x"), sites);
  EXPECT_THAT(change.impact.accesses, SizeIs(2));
  EXPECT_THAT(change.impact.pairs, SizeIs(3));
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
