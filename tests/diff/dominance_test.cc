#include "diff/dominance.h"

#include <gmock/gmock.h>

#include "cfg_text.h"

namespace simrt::diff {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// In these graphs every ordinal from 0 on is used, so that positions equal ordinals.

TEST(Dominance, BranchAndJoin) {
  const FunctionFacts f = parse_cfg("f", "4: | >3\n 3: c | if T>2 F>1\n 2: a | >1\n 1: b | >0\n 0:");
  const FlowGraph graph(f);
  const Dominance dominance(graph);
  EXPECT_EQ(dominance.dominator(1), 3u);
  EXPECT_EQ(dominance.dominator(2), 3u);
  EXPECT_EQ(dominance.dominator(4), dominance.start());
  const Dependence always{dominance.start(), 0};
  EXPECT_THAT(dominance.dependences(2), ElementsAre(Dependence{3, 0}));
  EXPECT_THAT(dominance.dependences(1), ElementsAre(always));
  EXPECT_THAT(dominance.dependences(3), ElementsAre(always));
}

TEST(Dominance, ALoopDependsOnItself) {
  const FunctionFacts f = parse_cfg("f", "4: | >3\n 3: c | while T>2 F>1\n 2: a | >3\n 1: b | >0\n 0:");
  const FlowGraph graph(f);
  const Dominance dominance(graph);
  EXPECT_THAT(dominance.dependences(3), ElementsAre(Dependence{3, 0}, Dependence{dominance.start(), 0}));
  EXPECT_THAT(dominance.dependences(2), ElementsAre(Dependence{3, 0}));
}

TEST(Dominance, EarlyReturnGuardsTheRest) {
  const FunctionFacts f = parse_cfg("f", "4: | >3\n 3: c | if T>2 F>1\n 2: return | >0\n 1: b | >0\n 0:");
  const FlowGraph graph(f);
  const Dominance dominance(graph);
  EXPECT_THAT(dominance.dependences(1), ElementsAre(Dependence{3, 1}));
}

TEST(Dominance, EndlessLoopHasAnEnd) {
  const FunctionFacts f = parse_cfg("f", "3: | >2\n 2: a | >1\n 1: b | >2\n 0:");
  const FlowGraph graph(f);
  const Dominance dominance(graph);
  EXPECT_THAT(dominance.dependences(2), ElementsAre(Dependence{1, 0}, Dependence{dominance.start(), 0}));
  EXPECT_EQ(graph.order().size(), 4u);
}

TEST(FlowGraph, CatchDispatchIsARootAndOrderFollowsTheSource) {
  const FunctionFacts f =
      parse_cfg("f", "5: | >4\n 4: t | >1\n 3: | try catch.E>2\n 2: h | >1\n 1: r | >0\n 0:");
  const FlowGraph graph(f);
  EXPECT_THAT(graph.roots(), ElementsAre(5u, 3u));
  EXPECT_THAT(graph.order(), ElementsAre(5u, 4u, 1u, 0u, 3u, 2u));
}

TEST(FlowGraph, EdgesToNowhereAreIgnored) {
  const FunctionFacts f = parse_cfg("f", "2: | >1\n 1: a | >7\n 0:");
  const FlowGraph graph(f);
  EXPECT_THAT(graph.arcs(1), IsEmpty());
}

}  // namespace
}  // namespace simrt::diff
