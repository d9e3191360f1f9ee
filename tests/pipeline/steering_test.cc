// Which strategies there are, and which are refused.
#include "pipeline/steer/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

class Steerings : public ::testing::Test {
 protected:
  SteeringResult make(const std::string& name) {
    SteeringOptions options;
    options.strategy = name;
    options.knowledge = &knowledge_;
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
  for (const char* name :
       {"", "pct0", "pctx", "pct65", "pcb5", "pcbx", "hapset+", "hapset+nothing", "dporx", "Map"})
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

}  // namespace
}  // namespace simrt::pipeline
