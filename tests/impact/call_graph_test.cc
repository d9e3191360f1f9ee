#include "impact/call_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program_text.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Graph {
 public:
  explicit Graph(const std::string& text) : program_(parse_program(text)), index_(program_), calls_(index_) {}

  std::vector<std::string> closure(const std::string& start) const {
    return names(calls_.closure({number_of(program_, start)}));
  }
  std::vector<std::string> entries() const { return names(calls_.thread_entries()); }
  std::vector<std::string> callers(const std::string& callee) const {
    std::set<std::uint32_t> found;
    for (const CallEdge& edge : calls_.in(number_of(program_, callee)))
      if (calls_.is_function(edge.caller)) found.insert(edge.caller);
    return names({found.begin(), found.end()});
  }

 private:
  std::vector<std::string> names(const std::vector<std::uint32_t>& functions) const {
    std::vector<std::string> result;
    for (std::uint32_t f : functions) result.push_back(program_.functions[f].name);
    return result;
  }
  Program program_;
  ProgramIndex index_;
  CallGraph calls_;
};

TEST(CallGraph, DirectAndRecursiveCalls) {
  const Graph graph(
      "fn a()\nB1 -> B0\n  call b()\nfn b()\nB1 -> B0\n  call a(); call c()\nfn c()\nB1 -> B0\n  call "
      "missing()\n");
  EXPECT_THAT(graph.closure("a"), UnorderedElementsAre("a", "b", "c"));
  EXPECT_THAT(graph.closure("c"), ElementsAre("c"));
}

TEST(CallGraph, VirtualCallReachesOverridersOfOverriders) {
  const Graph graph(
      "fn A::f()\nB1 -> B0\n  text a\nfn B::f() overrides=A::f\nB1 -> B0\n  text b\nfn C::f() "
      "overrides=B::f\nB1 -> B0\n  text c\n"
      "fn use()\nB1 -> B0\n  vcall A::f()\nfn exact()\nB1 -> B0\n  call A::f()\n");
  EXPECT_THAT(graph.closure("use"), UnorderedElementsAre("use", "A::f", "B::f", "C::f"));
  EXPECT_THAT(graph.closure("exact"), UnorderedElementsAre("exact", "A::f"));
}

TEST(CallGraph, VirtualCallOfAMethodWithoutBodyReachesItsOverriders) {
  const Graph graph(
      "fn B::f() overrides=Pure::f\nB1 -> B0\n  text b\nfn C::f() overrides=B::f\nB1 -> B0\n  text c\nfn "
      "use()\nB1 -> B0\n  vcall Pure::f()\n");
  EXPECT_THAT(graph.closure("use"), UnorderedElementsAre("use", "B::f", "C::f"));
}

TEST(CallGraph, PointerCallsReachCallbacksThatFit) {
  const Graph graph(
      "fn none()\nB1 -> B0\n  text n\nfn two(a, b)\nB1 -> B0\n  text t\nfn never(a, b)\nB1 -> B0\n  text x\n"
      "fn set()\nB1 -> B0\n  cb none(); cb two()\nfn run(f)\nB1 -> B0\n  icall f(0, 0)\n");
  EXPECT_THAT(graph.closure("run"), UnorderedElementsAre("run", "two"));
}

TEST(CallGraph, CallsThroughPlainPointersReachWhatTakesExactlyTheseArguments) {
  const std::string functions =
      "fn one(a)\nB1 -> B0\n  text o\nfn two(a, b)\nB1 -> B0\n  text t\nfn three(a, b, c)\nB1 -> B0\n  text "
      "x\n"
      "fn set()\nB1 -> B0\n  cb one(); cb two(); cb three()\n";
  const Graph graph(functions +
                    "fn run(f)\nB1 -> B0\n  pcall f(0, 0)\nfn object(f)\nB1 -> B0\n  icall f(0, 0)\n");
  EXPECT_THAT(graph.closure("run"), UnorderedElementsAre("run", "two"));
  EXPECT_THAT(graph.closure("object"), UnorderedElementsAre("object", "one", "two", "three"));
}

TEST(CallGraph, LambdaNobodyCallsBelongsToItsParent) {
  const Graph graph("fn f()\nB1 -> B0\n  text store\nfn f::lambda() !lambda in=f\nB1 -> B0\n  text body\n");
  EXPECT_THAT(graph.closure("f"), UnorderedElementsAre("f", "f::lambda"));
}

TEST(CallGraph, InstantiationsStandForTheirPattern) {
  const Graph graph(
      "fn box()\nB1 -> B0\n  text pattern\nfn box<int>() pattern=box\nB1 -> B0\n  call leaf()\nfn leaf()\nB1 "
      "-> B0\n  text l\nfn use()\nB1 -> B0\n  call box()\n");
  EXPECT_THAT(graph.closure("use"), UnorderedElementsAre("use", "box", "box<int>", "leaf"));
}

TEST(CallGraph, ThreadEntriesThroughAHomeMadeSpawner) {
  const Graph graph(
      "fn work(arg)\nB1 -> B0\n  text w\nfn compare(a, b)\nB1 -> B0\n  text c\nfn loop()\nB1 -> B0\n  text "
      "l\n"
      "fn Schedule(f, arg)\nB1 -> B0\n  call Start()\nfn Start()\nB1 -> B0\n  spawn loop()\n"
      "fn Sort(f)\nB1 -> B0\n  text sort\nfn main()\nB1 -> B0\n  cb work(); call Schedule(0, 0)\n  cb "
      "compare(); call Sort(0)\n");
  EXPECT_THAT(graph.entries(), UnorderedElementsAre("work", "loop"));
}

TEST(CallGraph, ReverseEdges) {
  const Graph graph(
      "fn a()\nB1 -> B0\n  call c()\nfn b()\nB1 -> B0\n  call c(); call c()\nfn c()\nB1 -> B0\n  text c\n");
  EXPECT_THAT(graph.callers("c"), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(graph.callers("a"), IsEmpty());
}

}  // namespace
}  // namespace simrt::impact
