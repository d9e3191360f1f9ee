// The parts of the mapping on hand-made input: placement, dominators, paths, names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mapping/compiled_copy.h"
#include "analysis/mapping/dominators.h"
#include "analysis/mapping/function_match.h"
#include "analysis/mapping/placement.h"
#include "analysis/mapping/source_paths.h"
#include "mapping_programs.h"

namespace simrt::analysis::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

BlockTable table() {
  return BlockTable({function_id("f"),
                     {{1, {{10, 5}, {10, 9}}}, {2, {{10, 9}, {10, 20}}}, {3, {{11, 3}}}, {4, {{12, 3}}}}});
}

TEST(Placement, PositionOfOneBlockDecides) {
  const Placement placement = table().place({{10, 9}, {10, 20}});
  EXPECT_THAT(placement.blocks, ElementsAre(2));
  EXPECT_TRUE(placement.certain);
}

TEST(Placement, SeveralBlocksWithOwnPositionsWereMerged) {
  const Placement placement = table().place({{10, 5}, {11, 3}});
  EXPECT_THAT(placement.blocks, ElementsAre(1, 3));
  EXPECT_TRUE(placement.certain);
}

TEST(Placement, SharedPositionKeepsAllCandidates) {
  const Placement placement = table().place({{10, 9}, {11, 99}});
  EXPECT_THAT(placement.blocks, ElementsAre(1, 2));
  EXPECT_FALSE(placement.certain);
}

TEST(Placement, NearestPointOnTheLineBeforeElseBehind) {
  EXPECT_THAT(table().place({{10, 25}}).blocks, ElementsAre(2));
  EXPECT_THAT(table().place({{11, 1}}).blocks, ElementsAre(3));
  EXPECT_THAT(table().place({{13, 1}}).blocks, IsEmpty());
  EXPECT_FALSE(table().place({{10, 25}}).certain);
}

TEST(Placement, NearestPointPrefersABlockThatNobodyElseHas) {
  EXPECT_THAT(table().place({{10, 7}}).blocks, ElementsAre(1));
  EXPECT_THAT(table().place({{10, 7}}, {1}).blocks, ElementsAre(2));
  EXPECT_THAT(table().place({{10, 7}}, {1, 2}).blocks, ElementsAre(1));
}

TEST(Placement, PositionWithoutColumnIsTheLastResort) {
  EXPECT_THAT(table().place({{10, 0}}).blocks, ElementsAre(1, 2));
  EXPECT_THAT(table().place({{10, 0}, {12, 3}}).blocks, ElementsAre(4));
  EXPECT_THAT(table().place({{0, 0}}).blocks, IsEmpty());
  EXPECT_THAT(table().place({}).blocks, IsEmpty());
}

TEST(Dominators, DiamondLoopAndDeadCode) {
  FunctionBuilder f("f", "f.cc", "");
  f.block(7, {}, {6}).block(6, {}, {5, 4}).block(5, {}, {3}).block(4, {}, {3}).block(3, {}, {2, 1});
  f.block(2, {}, {3}).block(8, {}, {1}).block(1, {}, {0}).block(0, {}, {});
  const Dominators dominators(f.facts);
  EXPECT_EQ(dominators.parent(7), std::nullopt);
  EXPECT_EQ(dominators.parent(5), 6u);
  EXPECT_EQ(dominators.parent(3), 6u);
  EXPECT_EQ(dominators.parent(2), 3u);
  EXPECT_EQ(dominators.parent(1), 3u) << "dead code is no way in";
  EXPECT_EQ(dominators.parent(0), 1u);
  EXPECT_FALSE(dominators.reachable(8));
  EXPECT_EQ(dominators.parent(8), std::nullopt);
}

TEST(Dominators, HandlersAreReachableOverNoEdge) {
  FunctionBuilder f("f", "f.cc", "");
  f.block(5, {}, {4}).block(4, {}, {1}).block(3, {}, {2}, EdgeKind::Exception).block(2, {}, {1});
  f.block(1, {}, {0}).block(0, {}, {});
  const Dominators dominators(f.facts);
  EXPECT_TRUE(dominators.reachable(2));
  EXPECT_EQ(dominators.parent(2), 3u);
  EXPECT_EQ(dominators.parent(3), std::nullopt);
  EXPECT_EQ(dominators.parent(1), std::nullopt) << "reached from the body and from the handler";
}

TEST(Dominators, ThrowDoesNotDominateTheHandler) {
  // Block 4 throws; the calls in 5 may throw too, over no edge.
  FunctionBuilder f("f", "f.cc", "throw");
  f.block(6, {}, {5}).block(5, {}, {4, 1}).block(4, {"throw"}, {3}, EdgeKind::Exception);
  f.block(3, {}, {2}, EdgeKind::Exception).block(2, {}, {1}).block(1, {}, {0}).block(0, {}, {});
  const Dominators dominators(f.facts);
  EXPECT_EQ(dominators.parent(4), 5u);
  EXPECT_EQ(dominators.parent(2), 3u);
  EXPECT_EQ(dominators.parent(3), std::nullopt);
}

TEST(Dominators, UnreachableEdgesAndVeryLongFunctions) {
  FunctionBuilder f("f", "f.cc", "");
  constexpr std::uint32_t kBlocks = 50000;
  for (std::uint32_t i = kBlocks; i > 0; --i) f.block(i, {}, {i - 1});
  f.block(0, {}, {});
  f.facts.blocks.front().successors.push_back({EdgeKind::Unreachable, 0, 5});
  const Dominators dominators(f.facts);
  EXPECT_EQ(dominators.parent(5), 6u);
  EXPECT_EQ(dominators.parent(0), 1u);
}

/// Entry 4, then 3 with branches 2 and 1.
FunctionBuilder branch() {
  FunctionBuilder f("f", "f.cc", "aa\nbb\ncc\n");
  f.block(4, {}, {3}).block(3, {"aa"}, {2, 1}).block(2, {"bb"}, {0}).block(1, {"cc"}, {0}).block(0, {}, {});
  return f;
}

using Guards = std::map<std::uint32_t, bool>;

TEST(CompiledCopy, EntryGuardAndVotes) {
  const FunctionBuilder f = branch();
  CompiledCopy copy(f.facts);
  const std::vector<Guard> guards = {{0x10, 0, true}, {0x20, 1, false}};
  const CodePiece first{0, 1, false, {}}, second{1, 1, false, {}};
  copy.place(BlockTable(f.points), guards, {&first, &second}, {{{1, 0}, {1, 1}}, {{2, 1}}}, true);
  EXPECT_EQ(copy.marks(), (CompiledCopy::Marks{{4, {{0, true}}}, {3, {{0, true}}}, {2, {{1, true}}}}));
}

TEST(CompiledCopy, BlockWithOnlySharedPositionsTakesAllTheirGuards) {
  FunctionBuilder f = branch();
  f.points.blocks[3].points = {{1, 1}, {2, 1}};  // block 1 lies under the positions of 3 and 2
  f.points.blocks[1].points.push_back({1, 5});
  f.points.blocks[2].points.push_back({2, 5});
  CompiledCopy copy(f.facts);
  const std::vector<Guard> guards = {{0x10, 0, true}, {0x20, 1, false}};
  const CodePiece first{0, 1, false, {}}, second{1, 1, false, {}};
  copy.place(BlockTable(f.points), guards, {&first, &second}, {{{1, 1}, {1, 5}}, {{2, 1}, {2, 5}}}, true);
  EXPECT_EQ(copy.marks().at(1), (Guards{{0, false}, {1, false}}));
  EXPECT_EQ(copy.marks().at(2), (Guards{{1, true}}));
}

TEST(CompiledCopy, GapsOfOneCopyTakeTheirDominator) {
  const FunctionBuilder f = branch();
  const Dominators dominators(f.facts);
  CompiledCopy copy(f.facts);
  copy.mark_entry(7);
  copy.mark(2, 8, true);
  copy.fill_gaps({1, 2, 3, 4}, dominators);
  EXPECT_EQ(copy.marks().at(1), (Guards{{7, false}}));
  EXPECT_EQ(copy.marks().at(2), (Guards{{8, true}})) << "has a guard of its own";

  CompiledCopy tail(f.facts);  // only the end of the function is left of this copy
  tail.mark(2, 8, true);
  tail.fill_gaps({1, 2}, dominators);
  EXPECT_EQ(tail.marks().at(1), (Guards{{8, false}}));
}

TEST(SourcePaths, RelativeToTheRootOrByLongestSuffix) {
  Workspace workspace;
  workspace.write("repo/src/a.cc", "");
  workspace.write("other/src/a.cc", "");
  const SourcePaths paths(workspace.path("repo"), {"src/a.cc", "a.cc", "lib/deep/b.h", "x/c.h", "y/c.h"});
  EXPECT_EQ(paths.relative(workspace.path("repo/src/a.cc")), "src/a.cc");
  EXPECT_EQ(paths.relative(workspace.path("repo/build/../src/./a.cc")), "src/a.cc");
  EXPECT_EQ(paths.relative(workspace.path("other/src/a.cc")), "") << "exists, and is not ours";
  EXPECT_EQ(paths.relative(workspace.path("repo/build-simrt/src/a.cc")), "src/a.cc") << "a second work tree";
  EXPECT_EQ(paths.relative(workspace.path("repo/build/generated.cc")), "build/generated.cc");
  EXPECT_EQ(paths.relative("/container/repo/src/a.cc"), "src/a.cc");
  EXPECT_EQ(paths.relative("../src/a.cc"), "src/a.cc");
  EXPECT_EQ(paths.relative("./src/a.cc"), "src/a.cc");
  EXPECT_EQ(paths.relative("/nowhere/a.cc"), "a.cc");
  EXPECT_EQ(paths.relative("deep/b.h"), "lib/deep/b.h");
  EXPECT_EQ(paths.relative("/nowhere/xlib/deep/b.h"), "") << "components, not characters";
  EXPECT_EQ(paths.relative("c.h"), "") << "two files could be meant";
  EXPECT_EQ(paths.relative(""), "");
}

// Builds are made in them, of the same files: inside the root and outside, seen from any of them.
TEST(SourcePaths, OtherWorkTreesStandForTheRoot) {
  Workspace workspace;
  workspace.write("repo/.git/HEAD", "");
  for (const char* tree : {"repo/build-check", "beside"}) {
    workspace.write(std::string(tree) + "/src/a.c", "");
    const std::string own = "repo/.git/worktrees/" + std::filesystem::path(tree).filename().string();
    workspace.write(std::string(tree) + "/.git", "gitdir: " + workspace.path(own) + "\n");
    workspace.write(own + "/gitdir", workspace.path(tree) + "/.git\n");
    workspace.write(own + "/commondir", "../..\n");
  }
  workspace.write("repo/src/a.c", "");
  workspace.write("stranger/src/a.c", "");
  for (const char* root : {"repo", "beside", "repo/build-check"}) {
    const SourcePaths paths(workspace.path(root), {});
    for (const char* tree : {"repo", "beside", "repo/build-check"})
      EXPECT_EQ(paths.relative(workspace.path(tree) + "/src/a.c"), "src/a.c") << root << " " << tree;
    EXPECT_EQ(paths.relative(workspace.path("stranger/src/a.c")), "") << root;
  }
}

TEST(UnqualifiedName, DropsScopesTemplateArgumentsAndParameters) {
  EXPECT_EQ(unqualified_name("f"), "f");
  EXPECT_EQ(unqualified_name("a::B<c::D>::f<int>(e::F)"), "f");
  EXPECT_EQ(unqualified_name("(anonymous namespace)::g(int)"), "g");
  EXPECT_EQ(unqualified_name("A::~A"), "~A");
  EXPECT_EQ(unqualified_name("A::operator()(int)"), "operator()");
  EXPECT_EQ(unqualified_name("operator<<(a::B)"), "operator<<");
  EXPECT_EQ(unqualified_name("A::operator bool() const"), "operator bool");
  EXPECT_EQ(unqualified_name("operators::run()"), "run");
}

TEST(FunctionMatcher, FallsBackToTheDeclaration) {
  FunctionBuilder pattern("twice<T>(T)", "t.h", "\n\n\n\n");
  pattern.flags(kDependent).lines(2, 3);
  FunctionBuilder instance("twice<int>(int)", "t.h", "\n\n\n\n");
  instance.flags(kInstantiation).lines(2, 3).linkage("_Z5twiceIiET_S0_");
  std::vector<FunctionPoints> points;
  const Program program = make_program({pattern, instance}, points);
  const FunctionMatcher matcher(program);
  auto match = [&](const std::string& linkage, const std::string& name, std::uint32_t line) {
    std::vector<std::string> names;
    for (const FunctionFacts* facts : matcher.match({linkage, name, 0, line, 0}, "t.h", "")) {
      names.push_back(facts->name);
    }
    return names;
  };
  EXPECT_THAT(match("_Z5twiceIiET_S0_", "twice<int>", 2), ElementsAre("twice<int>(int)"));
  EXPECT_THAT(match("_Z5twiceIlET_S0_", "twice<long>", 2), ElementsAre("twice<T>(T)"))
      << "no facts of its own";
  EXPECT_THAT(match("_Z5thricev", "thrice", 2), IsEmpty());
  EXPECT_THAT(match("", "twice", 9), IsEmpty());
}

}  // namespace
}  // namespace simrt::analysis::test
