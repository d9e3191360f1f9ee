// The one-pass recogniser against the definition.
#include "schedule/patterns/recognise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "executions.h"
#include "reference_matcher.h"
#include "schedule/patterns/conflict_edges.h"

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

/// The definition: bytes are one variable as long as no access begins or ends between them and they were
/// handed out together; shared are those that two threads touched, one of them writing. Numbered as first
/// touched.
std::vector<std::vector<VariableNumber>> touched_by_definition(const Execution& execution) {
  std::set<std::uint64_t> cuts;
  for (const ExecutionEvent& event : execution.events)
    if (is_memory(event.kind)) cuts.insert({event.object, event.object + event.size});
  struct Variable {
    std::set<ThreadIndex> threads;
    bool written = false;
  };
  std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> numbers;  // by cut and allocation
  std::vector<Variable> variables;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::size_t>> blocks;  // begin to end and allocation
  std::vector<std::vector<std::size_t>> touched;
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    touched.emplace_back();
    if (event.kind == EventKind::Allocate) {
      std::erase_if(blocks, [&](const auto& block) {
        return block.first < event.object + event.size && block.second.first > event.object;
      });
      blocks[event.object] = {event.object + event.size, i + 1};
    }
    if (!is_memory(event.kind)) continue;
    for (const std::uint64_t cut : cuts) {
      if (cut < event.object || cut >= event.object + event.size) continue;
      std::size_t allocation = 0;
      for (const auto& [begin, block] : blocks)
        if (begin <= cut && cut < block.first) allocation = block.second;
      const auto number = numbers.try_emplace({cut, allocation}, variables.size());
      if (number.second) variables.emplace_back();
      Variable& variable = variables[number.first->second];
      variable.threads.insert(event.thread);
      variable.written |= writes_memory(event.kind);
      touched.back().push_back(number.first->second);
    }
  }
  std::vector<VariableNumber> shared(variables.size());
  VariableNumber count = 0;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (variables[i].threads.size() > 1 && variables[i].written) shared[i] = ++count;
  std::vector<std::vector<VariableNumber>> result;
  for (const auto& numbers_of_event : touched) {
    result.emplace_back();
    for (const std::size_t number : numbers_of_event)
      if (shared[number] != 0) result.back().push_back(shared[number] - 1);
    std::sort(result.back().begin(), result.back().end());
  }
  return result;
}

TEST(SharedVariables, AgreeWithTheDefinitionOnRandomExecutions) {
  std::mt19937_64 random(11);
  std::size_t again = 0;
  for (int round = 0; round < 400; ++round) {
    ExecutionBuilder builder;
    const std::uint64_t words = 1 + random() % 200;
    const std::size_t steps = 10 + random() % 300;
    for (std::size_t i = 0; i < steps; ++i) {
      static constexpr EventKind kinds[] = {EventKind::Read, EventKind::Write, EventKind::AtomicUpdate,
                                            EventKind::Lock};
      const auto thread = static_cast<ThreadIndex>(random() % 3);
      const std::uint64_t object = 0x1000 + 2 * (random() % words);
      if (random() % 10 == 0) {
        builder.step(thread, EventKind::Allocate, object, "new", 16);
      } else {
        builder.step(thread, kinds[random() % std::size(kinds)], object, "s", 1u << (random() % 4));
      }
    }
    const Execution execution = builder.get();
    const auto expected = touched_by_definition(execution);
    const SharedVariables shared(execution);
    for (std::size_t i = 0; i < steps; ++i) {
      const auto touched = shared.touched_by(i);
      ASSERT_EQ(std::vector(touched.begin(), touched.end()), expected[i])
          << "round " << round << " event " << i;
      again += touched.size();
    }
  }
  EXPECT_GT(again, 10000U);
}

TEST(SharedVariables, AddressesAtTheEndOfMemoryAreNoTrouble) {
  ExecutionBuilder builder;
  builder.write(1, UINT64_MAX, "w").write(2, UINT64_MAX - 1, "w").write(1, 0, "w").write(2, 0, "w");
  EXPECT_GE(SharedVariables(builder.get()).count(), 1U);
}

// An edge's spans of one variable begin together; what is dropped of them answers no question.
TEST(Spans, AnswerAsIfAllWereKept) {
  struct Span {
    VariableNumber variable;
    StepTime begin, end;
  };
  std::mt19937_64 random(13);
  std::size_t inside = 0;
  for (int round = 0; round < 200; ++round) {
    // Few variables, each often; or two of them nearly always, and else a new one, that only they span.
    const std::uint64_t variables = 1 + random() % 40, rare = round % 2 == 0 ? 0 : 4 + random() % 8;
    std::map<VariableNumber, StepTime> begins;
    std::vector<Span> all;
    Spans spans;
    StepTime now = 100;
    for (int step = 0; step < 600; ++step) {
      now += 1 + random() % 3;
      auto variable = static_cast<VariableNumber>(random() % variables);
      if (rare != 0) variable = random() % rare != 0 ? static_cast<VariableNumber>(random() % 2) : 2 + now;
      const StepTime begin =
          begins.try_emplace(variable, now - 1 - random() % (rare != 0 ? 12 : 100)).first->second;
      all.push_back({variable, begin, now});
      spans.note(variable, begin, now);
      const StepTime time = now - random() % 100;
      const auto except = static_cast<VariableNumber>(random() % 3);
      const bool expected = std::any_of(all.begin(), all.end(), [&](const Span& span) {
        return span.variable != except && span.begin < time && time < span.end;
      });
      ASSERT_EQ(spans.contains(time, except), expected) << "round " << round << " step " << step;
      inside += expected ? 1 : 0;
    }
  }
  EXPECT_GT(inside, 1000U);
}

// More edges to a thread than bits in a word.
TEST(Recognise, AgreesWhereEdgesAreMany) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 8; ++round) {
    const Execution execution = random_execution(random, {4, 3, 12, 70, round % 2 == 0});
    ASSERT_EQ(difference(sorted(recognise(execution).instances), ReferenceMatcher(execution).found), "")
        << "round " << round;
  }
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
