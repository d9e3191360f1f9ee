// Which strategies there are, and which are refused.
#include "pipeline/steer/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  for (const char* name : {"auto", "map", "pair", "rf", "period", "pct", "surw", "dpor", "hapset+pcb3"}) {
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
  EXPECT_EQ(executions, 3) << "one guided, two of all";
  EXPECT_TRUE((*search)->report().finished);
  EXPECT_TRUE((*search)->report().complete);
  EXPECT_THAT((*search)->report().lines, ::testing::Contains(::testing::HasSubstr("then without guidance")));
}

}  // namespace
}  // namespace simrt::pipeline
