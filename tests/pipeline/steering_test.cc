// Which strategies there are, and which are refused.
#include "pipeline/steer/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace simrt::pipeline {
namespace {

class Steerings : public ::testing::Test {
 protected:
  SteeringResult make(const std::string& name) { return make(name, knowledge_); }
  SteeringResult make(const std::string& name, const Knowledge& knowledge) {
    SteeringOptions options;
    options.strategy = name;
    options.knowledge = &knowledge;
    options.sites = &sites_;
    return make_steering(options);
  }

 private:
  Knowledge knowledge_{{}};
  Symbols symbols_{".", nullptr};
  RecordedSites sites_{symbols_};
};

TEST_F(Steerings, EveryListedNameIsOne) {
  for (std::string name : strategy_names()) {
    if (name.ends_with("N")) name.back() = '2';
    EXPECT_TRUE(make(name)) << name;
  }
}

TEST_F(Steerings, WhatIsUnsoundOrUnknownIsRefusedWithTheReason) {
  const auto bounded = make("dpor+pcb1");
  ASSERT_FALSE(bounded);
  EXPECT_THAT(bounded.error().message, ::testing::HasSubstr("partial order reduction cannot be combined"));
  for (const char* name : {"", "pct0", "pctx", "pct65", "pcb5", "pcbx", "hapset+", "hapset+nothing",
                           "hapset+pcb2+rest", "rest", "dporx", "Map"})
    EXPECT_FALSE(make(name)) << name;
}

// Holds are as long as an execution: one that was long because of a hold must not make the next hold longer.
TEST_F(Steerings, AimedExecutionsDoNotCountAsLong) {
  Knowledge knowledge{{}};
  Symbols symbols{".", nullptr};
  const RecordedSites sites{symbols};
  const auto learn = [&](std::uint64_t points, bool aimed) {
    Observed seen;
    seen.result.execution.points = points;
    knowledge.learn({}, seen, sites, aimed);
    return knowledge.points();
  };
  EXPECT_EQ(learn(50, true), 50U) << "better than nothing";
  EXPECT_EQ(learn(100, false), 100U);
  EXPECT_EQ(learn(100'000, true), 100U);
  EXPECT_EQ(learn(120, false), 120U);
}

TEST_F(Steerings, EachBeginsWithAnExecutionAndSearchesSayWhatTheyCover) {
  for (const char* name :
       {"auto", "delay", "map", "pair", "rf", "period", "pct", "surw", "states", "dpor", "hapset+pcb3"}) {
    auto steering = make(name);
    ASSERT_TRUE(steering);
    EXPECT_TRUE((*steering)->next()) << name;
  }
  auto search = make("pcb1");
  ASSERT_TRUE(search);
  EXPECT_THAT((*search)->report().scope, ::testing::HasSubstr("at most 1 preemptions"));
  EXPECT_FALSE((*search)->stops_at_saturation());
}

/// Two threads touch one variable: one writes it, then, or before that, the other one reads it.
Execution write_and_read(bool write_first) {
  Execution execution;
  execution.threads.resize(2);
  const ExecutionEvent write{.object = 0x10, .site = site_id("write"), .size = 4, .kind = EventKind::Write};
  const ExecutionEvent read{
      .object = 0x10, .site = site_id("read"), .size = 4, .thread = 1, .kind = EventKind::Read};
  for (const ExecutionEvent& event : write_first ? std::vector{write, read} : std::vector{read, write}) {
    execution.decisions.push_back({execution.events.size(),
                                   ThreadSet(execution.events.empty() ? 3 : 1ULL << event.thread),
                                   event.thread});
    execution.events.push_back(event);
  }
  return execution;
}

using Cut = std::tuple<ThreadIndex, std::uint32_t, std::uint64_t>;

std::set<Cut> cuts_of(const std::optional<Proposal>& proposal) {
  std::set<Cut> cuts;
  for (const format::PlanCut& cut : proposal->plan.cuts) cuts.insert({cut.thread, cut.period, cut.points});
  return cuts;
}

/// One thread writes what another one reads three times, here at its own points 0, 1 and 2 ...
Execution written_and_read(const std::vector<const char*>& reads) {
  Execution execution;
  execution.threads.resize(3);
  const auto step = [&](ThreadIndex thread, const char* site, EventKind kind) {
    execution.decisions.push_back({execution.events.size(), ThreadSet(7), thread});
    execution.events.push_back(
        {.object = 0x10, .site = site_id(site), .size = 4, .thread = thread, .kind = kind});
  };
  for (const char* site : reads) step(2, site, EventKind::Read);
  step(1, "write", EventKind::Write);
  return execution;
}

// The places are those of the execution in which the other thread went to its end, where its way may be
// another one than where the delay was found.
TEST_F(Steerings, ADelayedThreadComesBetweenTwoStepsOfTheOther) {
  auto delays = make("delay");
  ASSERT_TRUE(delays);
  (*delays)->watch(written_and_read({"a", "b", "c"}), {.new_instances = 1, .every_access = true});
  const Execution longer = written_and_read({"a", "made", "filled", "b", "c"});
  std::set<std::uint64_t> between;
  for (int i = 0; i < 60; ++i) {
    const auto proposal = (*delays)->next();
    ASSERT_TRUE(proposal);
    const std::set<Cut> cuts = cuts_of(proposal);
    if (cuts.contains({1, 2, 0}))  // the writing one goes on where the other one stops
      for (const std::uint64_t points : {1, 2, 3, 4, 5})
        if (cuts.contains({2, 3, points})) between.insert(points);
    (*delays)->learn(longer, {}, {.new_instances = 1, .every_access = true});
  }
  EXPECT_EQ(between, (std::set<std::uint64_t>{1, 2, 3, 4})) << "not behind its last step";
}

// The thread before its second access, the other one, everybody else, and then the thread again.
TEST_F(Steerings, ADelayPutsTheOtherThreadBeforeTheStep) {
  Execution execution;
  execution.threads.resize(4);
  for (const ExecutionEvent& event :
       {ExecutionEvent{
            .object = 0x10, .site = site_id("a"), .size = 4, .thread = 1, .kind = EventKind::Write},
        ExecutionEvent{
            .object = 0x20, .site = site_id("b"), .size = 4, .thread = 1, .kind = EventKind::Write},
        ExecutionEvent{.object = 0x10, .site = site_id("c"), .size = 4, .thread = 3, .kind = EventKind::Read},
        ExecutionEvent{
            .object = 0x20, .site = site_id("d"), .size = 4, .thread = 3, .kind = EventKind::Read}}) {
    execution.decisions.push_back({execution.events.size(), ThreadSet(15), event.thread});
    execution.events.push_back(event);
  }
  auto delays = make("delay");
  ASSERT_TRUE(delays);
  EXPECT_FALSE((*delays)->has_untried());
  (*delays)->watch(execution, {.new_instances = 1, .every_access = false});
  EXPECT_FALSE((*delays)->has_untried()) << "own points cannot be counted in it";
  (*delays)->watch(execution, {.new_instances = 1, .every_access = true});
  EXPECT_TRUE((*delays)->has_untried());
  const auto first = (*delays)->next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->plan.strategy, format::StrategyKind::Periodical);
  EXPECT_TRUE(first->all_points);
  EXPECT_EQ(cuts_of(first), (std::set<Cut>{{0, 2, 0}, {1, 3, 1}, {2, 2, 0}, {3, 1, 0}}));
  (*delays)->learn(execution, {}, {});
  const auto second =
      (*delays)->next();  // the other thread's second access; only until the first thread's is made
  EXPECT_EQ(cuts_of(second), (std::set<Cut>{{0, 4, 0}, {1, 1, 0}, {1, 3, 2}, {2, 4, 0}, {3, 2, 1}}));
  for (int i = 0; i < 6; ++i) (*delays)->next();
  EXPECT_FALSE((*delays)->has_untried());
  const auto drawn = (*delays)->next();
  EXPECT_GE(drawn->plan.cuts.size(), 1U);
  for (std::size_t i = 1; i < drawn->plan.cuts.size(); ++i)
    if (drawn->plan.cuts[i].thread == drawn->plan.cuts[i - 1].thread) {
      EXPECT_GT(drawn->plan.cuts[i].period, drawn->plan.cuts[i - 1].period);
    }
}

// The history is read when a strategy has been made.
TEST_F(Steerings, AGuidedSearchLeavesOutWhatTheHistoryKnows) {
  for (const bool known : {false, true}) {
    Knowledge knowledge{{}};
    auto search = make("hapset", knowledge);
    ASSERT_TRUE(search);
    schedule::HapSets orders;
    if (known) orders.learn(write_and_read(false));
    knowledge.remember({}, orders);
    ASSERT_TRUE((*search)->next());
    (*search)->learn(write_and_read(true), {}, {});
    EXPECT_EQ((*search)->next().has_value(), !known);
  }
}

// Each order that it leaves out because another strategy showed it hides what lies behind it.
TEST_F(Steerings, AGuidedSearchDoesNotHearOfTheOrdersOfOthers) {
  Knowledge knowledge{{}};
  Symbols symbols{".", nullptr};
  const RecordedSites sites{symbols};
  auto search = make("hapset", knowledge);
  ASSERT_TRUE(search);
  const Learned learned = knowledge.learn(write_and_read(false), {}, sites, false);
  ASSERT_GT(learned.new_orders, 0U);
  (*search)->watch(write_and_read(false), learned);
  ASSERT_TRUE((*search)->next());
  (*search)->learn(write_and_read(true), {}, {});
  EXPECT_TRUE((*search)->next());
}

TEST_F(Steerings, OfSeveralSearchesOneMakesTheFirstExecution) {
  for (const char* name : {"hapset", "dpor"}) {
    auto search = make(name);
    ASSERT_TRUE(search);
    (*search)->watch(write_and_read(true), {.every_access = true});
    ASSERT_TRUE((*search)->next());
    EXPECT_TRUE((*search)->next()->plan.schedule.empty()) << name << ": somebody chose in that one";
    (*search)->watch(write_and_read(true), {.every_access = true, .by_default = true});
    const auto second = (*search)->next();
    ASSERT_TRUE(second);
    ASSERT_EQ(second->plan.schedule.size(), 1U) << name;
    EXPECT_EQ(second->plan.schedule[0].thread, 1U) << name;
    (*search)->watch(write_and_read(true), {.every_access = true, .by_default = true});
    (*search)->learn(write_and_read(false), {}, {});
    EXPECT_FALSE((*search)->next()) << name << ": both orders were run";
  }
}

// The second part begins anew, and what it covers is proven.
TEST_F(Steerings, WhereGuidedSearchEndsTheRestFollowsWhenAskedFor) {
  Knowledge knowledge{{}};
  schedule::HapSets orders;
  orders.learn(write_and_read(false));
  knowledge.remember({}, orders);
  auto search = make("hapset+rest", knowledge);
  ASSERT_TRUE(search);
  int executions = 0;
  for (auto proposal = (*search)->next(); proposal; proposal = (*search)->next(), ++executions)
    (*search)->learn(write_and_read(proposal->plan.schedule.empty()), {}, {});
  EXPECT_EQ(executions, 5) << "one guided, two with less of it, two of all";
  EXPECT_TRUE((*search)->report().finished);
  EXPECT_TRUE((*search)->report().complete);
  EXPECT_THAT((*search)->report().lines, ::testing::Contains(::testing::HasSubstr("then without guidance")));
}

}  // namespace
}  // namespace simrt::pipeline
