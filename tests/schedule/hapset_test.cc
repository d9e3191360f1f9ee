#include "schedule/hapset/hapset.h"

#include <gtest/gtest.h>

#include "executions.h"

namespace simrt::schedule {
namespace {

std::set<SiteId> predecessors(const HapSets& sets, const char* site) {
  std::set<SiteId> found;
  for (const auto& [after, befores] : sets.sets())
    if (after.site == site_id(site))
      for (const Statement& before : befores) {
        EXPECT_EQ(before.thread, StatementThread::Remote);
        found.insert(before.site);
      }
  return found;
}

using Sites = std::set<SiteId>;

TEST(HapSets, ExampleOneOfThePaper) {
  ExecutionBuilder builder;
  builder.write(1, 0x10, "e1").read(2, 0x10, "e2").read(2, 0x10, "e3").write(1, 0x10, "e4");
  HapSets sets;
  EXPECT_EQ(sets.learn(builder.get()), 2U);
  EXPECT_EQ(predecessors(sets, "e1"), Sites{});
  EXPECT_EQ(predecessors(sets, "e2"), Sites{site_id("e1")});
  EXPECT_EQ(predecessors(sets, "e3"), Sites{});
  EXPECT_EQ(predecessors(sets, "e4"), Sites{site_id("e3")});
  const auto& events = builder.get().events;
  EXPECT_FALSE(sets.seen(builder.get(), events[1], events[3]));  // e2 in HaPSet[e4]: the bug
  EXPECT_FALSE(sets.seen(builder.get(), events[3], events[2]));  // e4 in HaPSet[e3]: the bug
}

/// T1 goes round `before` times, then T2 clears x, then T1 goes round once more.
Execution busy_wait(int before) {
  ExecutionBuilder builder;
  const auto round = [&] { builder.lock(1, 0x1, "b").read(1, 0x10, "c").unlock(1, 0x1, "e"); };
  for (int i = 0; i < before; ++i) round();
  builder.lock(2, 0x1, "f").write(2, 0x10, "g").unlock(2, 0x1, "h");
  if (before > 0) round();
  return builder.get();
}

TEST(HapSets, ExampleTwoOfThePaperWhateverTheNumberOfIterations) {
  for (int before = 1; before < 6; ++before) {
    HapSets sets;
    sets.learn(busy_wait(before));
    EXPECT_EQ(predecessors(sets, "c"), Sites{site_id("g")});
    EXPECT_EQ(predecessors(sets, "g"), Sites{site_id("c")});
    EXPECT_EQ(predecessors(sets, "f"), Sites{site_id("b")});
    EXPECT_EQ(predecessors(sets, "b"), Sites{site_id("f")});
    EXPECT_EQ(sets.size(), 4U);
    EXPECT_EQ(sets.learn(busy_wait(before + 1)), 0U);
  }
}

TEST(HapSets, BadRunsTeachNothing) {
  Execution execution = busy_wait(2);
  HapSets sets;
  for (const ExecutionEnd end : {ExecutionEnd::Failed, ExecutionEnd::Deadlock, ExecutionEnd::Cut}) {
    execution.outcome.end = end;
    EXPECT_EQ(sets.learn(execution), 0U);
  }
}

TEST(HapSets, ContextsKeepCallersApartUpToTheirDepth) {
  Execution execution = busy_wait(1);
  execution.stacks = {{site_id("near"), site_id("far")}, {site_id("near"), site_id("farther")}};
  HapSets shallow(1), deep(2);
  ExecutionEvent event = execution.events[1];
  event.stack = 0;
  ExecutionEvent other = event;
  other.stack = 1;
  const auto local = StatementThread::Local;
  EXPECT_EQ(shallow.statement(execution, event, local), shallow.statement(execution, other, local));
  EXPECT_NE(deep.statement(execution, event, local), deep.statement(execution, other, local));
}

TEST(HapSets, WhatAStatementDoesTwiceIsTwoStatements) {
  ExecutionBuilder builder;
  builder.read(1, 0x10, "n++").write(1, 0x10, "n++").read(2, 0x10, "n++").write(2, 0x10, "n++");
  builder.step(1, EventKind::Wait, 0x1, "wait").step(2, EventKind::NotifyAll, 0x1, "notify");
  builder.step(1, EventKind::Woken, 0x1, "wait");
  HapSets sets;
  sets.learn(builder.get());
  const auto& events = builder.get().events;
  EXPECT_TRUE(sets.seen(builder.get(), events[1], events[2]));   // one after the other
  EXPECT_FALSE(sets.seen(builder.get(), events[2], events[1]));  // a lost update needs this
  EXPECT_TRUE(sets.seen(builder.get(), events[5], events[6]));
  EXPECT_FALSE(sets.seen(builder.get(), events[5], events[4]));  // and a lost notification this
}

TEST(HapSets, MergeAndForget) {
  HapSets one, other;
  one.learn(busy_wait(1));
  EXPECT_EQ(other.merge(one), 4U);
  EXPECT_EQ(other.merge(one), 0U);
  other.forget({site_id("g")});
  EXPECT_EQ(other.size(), 2U);
}

}  // namespace
}  // namespace simrt::schedule
