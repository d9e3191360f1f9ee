#include "schedule/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "executions.h"
#include "interpreter.h"
#include "schedule/search/search.h"

namespace simrt::schedule {
namespace {

PatternInstance instance(PatternNumber pattern, std::initializer_list<const char*> sites) {
  PatternInstance made;
  made.pattern = pattern;
  std::size_t i = 0;
  for (const char* site : sites) made.sites[i++] = site_id(site);
  return made;
}

TEST(Predict, TheBugOfTheMapPaperIsPredictedFromAHarmlessRun) {
  ExecutionBuilder builder;
  builder.read(1, 0x10, "s4").read(1, 0x10, "s5").write(2, 0x10, "s9");
  Predictor predictor;
  predictor.add(builder.get());
  PatternCoverage covered;
  covered.add(recognise(builder.get()));
  const std::vector<Target> targets = predictor.targets(covered);
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.front().instance, instance(4, {"s4", "s9", "s5"}));
  ASSERT_EQ(targets.front().steps.size(), 3U);
  EXPECT_EQ(targets.front().steps[0].role, 0);
  EXPECT_EQ(targets.front().steps[1].role, 1);
  EXPECT_EQ(targets.front().steps[1].kind, EventKind::Write);
  EXPECT_EQ(targets.front().steps[1].thread_role, role_id("t2"));
  for (const Target& target : targets) EXPECT_FALSE(covered.contains(target.instance));
}

TEST(Predict, ACriticalSectionRulesOutWhatWouldSplitIt) {
  ExecutionBuilder builder;
  builder.lock(1, 0x1).read(1, 0x10, "s4").read(1, 0x10, "s5").unlock(1, 0x1);
  builder.lock(2, 0x1).write(2, 0x10, "s9").unlock(2, 0x1);
  Predictor predictor;
  predictor.add(builder.get());
  EXPECT_FALSE(predictor.is_feasible(instance(4, {"s4", "s9", "s5"})));
  EXPECT_TRUE(predictor.is_feasible(instance(1, {"s4", "s9"})));
  EXPECT_TRUE(predictor.is_feasible(instance(2, {"s9", "s4"})));
}

TEST(Predict, TwoSectionsOfOneLockDoNot) {
  ExecutionBuilder builder;
  builder.lock(1, 0x1).read(1, 0x10, "s4").unlock(1, 0x1);
  builder.lock(1, 0x1).read(1, 0x10, "s5").unlock(1, 0x1);
  builder.lock(2, 0x1).write(2, 0x10, "s9").unlock(2, 0x1);
  Predictor predictor;
  predictor.add(builder.get());
  EXPECT_TRUE(predictor.is_feasible(instance(4, {"s4", "s9", "s5"})));
}

TEST(Predict, CreationAndJoiningOrder) {
  ExecutionBuilder builder;
  builder.write(0, 0x10, "before").step(0, EventKind::Create, 1, "create").write(1, 0x10, "in");
  builder.step(0, EventKind::Join, 1, "join").write(0, 0x10, "after");
  Predictor predictor;
  predictor.add(builder.get());
  EXPECT_TRUE(predictor.is_feasible(instance(3, {"before", "in"})));
  EXPECT_TRUE(predictor.is_feasible(instance(3, {"in", "after"})));
  EXPECT_FALSE(predictor.is_feasible(instance(3, {"in", "before"})));
  EXPECT_FALSE(predictor.is_feasible(instance(3, {"after", "in"})));
}

TEST(Predict, ImpactedFirstThenWriteWrite) {
  ExecutionBuilder builder;
  builder.write(1, 0x10, "w1").read(1, 0x10, "r1").write(2, 0x10, "w2");
  builder.read(1, 0x20, "r3").write(2, 0x20, "w4");
  Predictor predictor;
  predictor.add(builder.get());
  const auto targets = predictor.targets({}, {site_id("r3")});
  ASSERT_GT(targets.size(), 4U);
  bool rest = false;
  int urgency = 0;
  for (const Target& target : targets) {
    if (!target.impacted && !rest) urgency = 0;
    rest |= !target.impacted;
    EXPECT_EQ(target.impacted, !rest);
    EXPECT_GE(urgency_of(target.instance.pattern), urgency);
    urgency = urgency_of(target.instance.pattern);
  }
  EXPECT_TRUE(rest);
}

TEST(Predict, OfThreadsThatAreAlikeAFewStandForAll) {
  ExecutionBuilder few, many;
  for (ThreadIndex thread = 1; thread <= 3; ++thread) few.read(thread, 0x10, "r").write(thread, 0x10, "w");
  for (ThreadIndex thread = 1; thread <= 200; ++thread) many.read(thread, 0x10, "r").write(thread, 0x10, "w");
  for (ExecutionBuilder* builder : {&few, &many}) builder->read(201, 0x10, "other").write(201, 0x20, "y");
  Predictor of_few, of_many(PredictionLimits{.instances = 1000, .combinations = 100'000});
  of_few.add(few.get());
  of_many.add(many.get());
  EXPECT_FALSE(of_many.cut());
  EXPECT_EQ(of_few.feasible(), of_many.feasible());
  EXPECT_TRUE(of_many.is_feasible(instance(7, {"r", "w", "w"})));
  EXPECT_TRUE(of_many.is_feasible(instance(3, {"w", "w"})));
  EXPECT_FALSE(of_many.is_feasible(instance(5, {"w", "w", "r"}))) << "nobody reads behind its write";
}

TEST(Patterns, AnInstanceIsMadeOfOrders) {
  const auto orders = orders_in(instance(12, {"wx", "rx", "ry", "wy"}));
  EXPECT_EQ(orders, (std::vector{instance(2, {"wx", "rx"}), instance(1, {"ry", "wy"})}));
  EXPECT_EQ(orders_in(instance(4, {"r", "w", "r2"})),
            (std::vector{instance(1, {"r", "w"}), instance(2, {"w", "r2"})}));
  EXPECT_TRUE(orders_in(instance(3, {"w", "w2"})).empty());
}

/// What happens in any schedule of a program without branches must have been predicted from one of its runs.
TEST(Predict, NothingThatCanHappenIsRuledOut) {
  std::mt19937_64 random(99);
  std::size_t checked = 0;
  for (int round = 0; round < 60; ++round) {
    Program program;
    program.variables.assign(2, 0);
    program.mutexes = 1;
    for (int t = 0; t < 2; ++t) {
      std::vector<Instruction> code;
      bool held = false;
      for (int i = 0; i < 5; ++i) {
        const std::string site = std::to_string(t) + "." + std::to_string(i);
        if (random() % 3 == 0) {
          code.push_back({held ? Op::Unlock : Op::Lock, 0, 0, site});
          held = !held;
        } else {
          code.push_back({random() % 2 ? Op::Write : Op::Read, random() % 2, 1, site});
        }
      }
      if (held) code.push_back({Op::Unlock, 0, 0, "end"});
      program.threads.push_back(code);
    }
    Interpreter interpreter(program);
    Predictor predictor;
    predictor.add(interpreter.run({}));
    SystematicSearch search = SystematicSearch::create({.reduction = Reduction::None}).value();
    while (const auto prefix = search.next_prefix()) {
      const Execution execution = interpreter.run(*prefix);
      search.learn(execution);
      for (const PatternInstance& each : recognise(execution).instances) {
        ASSERT_TRUE(predictor.is_feasible(each)) << spelling_of(each.pattern) << " in round " << round;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 10000U);
}

}  // namespace
}  // namespace simrt::schedule
