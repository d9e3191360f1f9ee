// The one-pass recogniser against the definition.
#include "schedule/patterns/recognise.h"

#include <gtest/gtest.h>

#include <random>

#include "executions.h"
#include "reference_matcher.h"

namespace simrt::schedule {
namespace {

PatternInstance instance(PatternNumber pattern, std::initializer_list<const char*> sites) {
  PatternInstance made;
  made.pattern = pattern;
  std::size_t i = 0;
  for (const char* site : sites) made.sites[i++] = site_id(site);
  return made;
}

std::set<PatternInstance> sorted(const std::unordered_set<PatternInstance>& found) {
  return {found.begin(), found.end()};
}

std::string difference(const std::set<PatternInstance>& found, const std::set<PatternInstance>& expected) {
  std::string text;
  for (const PatternInstance& each : expected)
    if (!found.contains(each)) text += "missing " + spelling_of(each.pattern) + "; ";
  for (const PatternInstance& each : found)
    if (!expected.contains(each)) text += "wrong " + spelling_of(each.pattern) + "; ";
  return text;
}

struct Shape {
  std::size_t threads, variables, sites, steps;
  bool wide;  ///< some accesses cover two variables
};

Execution random_execution(std::mt19937_64& random, const Shape& shape) {
  ExecutionBuilder builder;
  for (std::size_t i = 0; i < shape.steps; ++i) {
    const auto thread = static_cast<ThreadIndex>(random() % shape.threads);
    const std::uint64_t variable = random() % shape.variables;
    const std::string site = "s" + std::to_string(random() % shape.sites);
    static constexpr EventKind kinds[] = {EventKind::Read,  EventKind::Write,        EventKind::Read,
                                          EventKind::Write, EventKind::AtomicUpdate, EventKind::AtomicFailed};
    const bool wide = shape.wide && random() % 5 == 0;
    builder.step(thread, kinds[random() % std::size(kinds)], 0x1000 + 4 * variable, site, wide ? 8 : 4);
  }
  return builder.get();
}

TEST(Recognise, WorkedExampleOfThePaper) {
  ExecutionBuilder builder;
  builder.read(1, 0x10, "s4").write(2, 0x10, "s9").read(1, 0x10, "s5");
  const std::set<PatternInstance> expected{instance(1, {"s4", "s9"}), instance(2, {"s9", "s5"}),
                                           instance(4, {"s4", "s9", "s5"})};
  EXPECT_EQ(sorted(recognise(builder.get()).instances), expected);
}

TEST(Recognise, EveryPatternIsFoundInItsOwnExecution) {
  for (PatternNumber pattern = 1; pattern <= kPatternCount; ++pattern) {
    ExecutionBuilder builder;
    PatternInstance expected;
    expected.pattern = pattern;
    std::size_t i = 0;
    for (const PatternStep& step : steps_of(pattern)) {
      const std::string site = "s" + std::to_string(i);
      expected.sites[i++] = site_id(site);
      builder.step(step.thread, step.mode == AccessMode::Read ? EventKind::Read : EventKind::Write,
                   0x100 + 8 * step.variable, site);
    }
    const auto found = recognise(builder.get()).instances;
    EXPECT_TRUE(found.contains(expected)) << spelling_of(pattern);
    for (const PatternInstance& other : found)
      if (steps_of(other.pattern).size() == steps_of(pattern).size()) {
        EXPECT_EQ(other, expected) << spelling_of(other.pattern) << " in " << spelling_of(pattern);
      }
  }
}

TEST(Recognise, ThreadIdsDoNotMatter) {
  ExecutionBuilder one, other;
  one.read(1, 0x10, "r").write(2, 0x10, "w");
  other.read(5, 0x20, "r").write(3, 0x20, "w");
  EXPECT_EQ(sorted(recognise(one.get()).instances), sorted(recognise(other.get()).instances));
}

TEST(Recognise, MemoryAllocatedAgainIsAnotherVariable) {
  ExecutionBuilder builder;
  builder.step(1, EventKind::Allocate, 0x40, "new", 8).write(1, 0x40, "w1");
  builder.step(1, EventKind::Free, 0x40, "delete").step(2, EventKind::Allocate, 0x40, "new", 8);
  builder.write(2, 0x40, "w2");
  EXPECT_TRUE(recognise(builder.get()).instances.empty());
}

TEST(Recognise, AgreesWithTheDefinitionOnRandomExecutions) {
  std::mt19937_64 random(20191111);
  std::size_t instances = 0, two_variables = 0;
  for (int round = 0; round < 6000; ++round) {
    const Shape shape{2 + random() % 3, 1 + random() % 4, 1 + random() % 8, 4 + random() % 14,
                      round % 3 == 0};
    const Execution execution = random_execution(random, shape);
    const auto found = sorted(recognise(execution).instances);
    const ReferenceMatcher reference(execution);
    ASSERT_EQ(difference(found, reference.found), "") << "round " << round;
    instances += found.size();
    for (const PatternInstance& each : found)
      two_variables += class_of(each.pattern) == PatternClass::TwoVariables ? 1 : 0;
  }
  EXPECT_GT(instances, 100000U);
  EXPECT_GT(two_variables, 10000U);
}

TEST(Recognise, AgreesOnLongerExecutionsWithFewSites) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const Execution execution = random_execution(random, {3, 3, 5, 60, round % 2 == 0});
    ASSERT_EQ(difference(sorted(recognise(execution).instances), ReferenceMatcher(execution).found), "")
        << "round " << round;
  }
}

TEST(Recognise, SaysWhenInstancesAreMissing) {
  std::mt19937_64 random(3);
  const Execution execution = random_execution(random, {3, 3, 8, 40, false});
  const Recognised all = recognise(execution), some = recognise(execution, {.instances = 10});
  EXPECT_FALSE(all.cut);
  EXPECT_TRUE(some.cut);
  EXPECT_EQ(some.instances.size(), 10U);
  for (const PatternInstance& each : some.instances) EXPECT_TRUE(all.instances.contains(each));
}

TEST(Recognise, PatienceOnlyLoses) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    const Execution execution = random_execution(random, {3, 4, 6, 200, false});
    const Recognised exact = recognise(execution), hasty = recognise(execution, {.patience = 1});
    for (const PatternInstance& each : hasty.instances) EXPECT_TRUE(exact.instances.contains(each));
    EXPECT_GT(hasty.instances.size(), exact.instances.size() / 2);
  }
}

}  // namespace
}  // namespace simrt::schedule
