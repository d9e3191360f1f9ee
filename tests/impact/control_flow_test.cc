#include "impact/control_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program_text.h"

namespace simrt::impact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Flow {
  explicit Flow(const std::string& body)
      : program(parse_program("fn f()\n" + body)), index(program), flow(index, 0) {}
  Program program;
  ProgramIndex index;
  ControlFlow flow;
};

TEST(ControlFlow, BothArmsOfAnIfDependOnIt) {
  const Flow f("B4 -> B3 T, B2 F\n  text c\nB3 -> B1\n  text t\nB2 -> B1\n  text e\nB1 -> B0\n  text join\n");
  EXPECT_THAT(f.flow.controlled_by(4), ElementsAre(2, 3));
  EXPECT_THAT(f.flow.controlled_by(1), IsEmpty());
}

TEST(ControlFlow, LoopConditionControlsItselfAndTheBody) {
  const Flow f(
      "B4 -> B3\n  text i\nB3 -> B2 T, B1 F\n  text c\nB2 -> B3\n  text body\nB1 -> B0\n  text after\n");
  EXPECT_THAT(f.flow.controlled_by(3), ElementsAre(2, 3));
}

TEST(ControlFlow, EarlyReturnControlsTheRest) {
  const Flow f(
      "B4 -> B3 T, B2 F\n  text c\nB3 -> B0\n  text return\nB2 -> B1\n  text rest\nB1 -> B0\n  text more\n");
  EXPECT_THAT(f.flow.controlled_by(4), ElementsAre(1, 2, 3));
}

TEST(ControlFlow, EndlessLoopHasPostDominatorsToo) {
  const Flow f(
      "B4 -> B3\n  text s\nB3 -> B2 T, B1 F\n  text c\nB2 -> B1\n  text then\nB1 -> B3\n  text next\n");
  EXPECT_THAT(f.flow.controlled_by(3), ElementsAre(2));
}

TEST(ControlFlow, ElementsBeforeAndAfter) {
  const Flow f("B3 -> B2\n  text a\n  text b\nB2 -> B2 T, B1 F\n  text c\n  text d\nB1 -> B0\n  text e\n");
  // Elements are numbered from the exit block up: e, c, d, a, b.
  EXPECT_THAT(f.flow.elements_from(4, Direction::Forward), ElementsAre(0, 1, 2));
  EXPECT_THAT(f.flow.elements_from(4, Direction::Backward), ElementsAre(3));
  EXPECT_THAT(f.flow.elements_from(1, Direction::Backward),
              ElementsAre(1, 2, 3, 4));  // in a loop: itself as well
}

}  // namespace
}  // namespace simrt::impact
