// States that executions reach, the archive of them, and the profile of shared variables.
#include "schedule/states.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "executions.h"
#include "schedule/state_archive.h"
#include "schedule/variable_profile.h"

namespace simrt::schedule {
namespace {

constexpr std::uint64_t kX = 0x10, kY = 0x20, kZ = 0x30;

/// The hashes of what an atomic held and gets.
void store(ExecutionBuilder& builder, ThreadIndex thread, std::uint64_t object, const std::string& site,
           std::uint32_t found, std::uint32_t left) {
  builder.step(thread, EventKind::AtomicStore, object, site);
  builder.get().events.back().value = found | left << 16;
}

std::uint64_t last_state(const Execution& execution) { return states_of(execution).back().hash; }

TEST(States, InterleavingsMeetWhereMemoryAndPlacesAreTheSame) {
  ExecutionBuilder one, other, third;
  one.read(1, kY, "see").write(1, kX, "a").read(2, kX, "look").write(2, kY, "b");
  other.write(1, kX, "a").read(2, kX, "look").write(2, kY, "b").read(1, kY, "see");
  third.read(1, kY, "see").read(2, kX, "look").write(2, kY, "b").write(1, kX, "a");
  EXPECT_EQ(last_state(one.get()), last_state(third.get())) << "threads stand and memory is the same";
  EXPECT_NE(last_state(one.get()), last_state(other.get())) << "thread 1 stands elsewhere";
}

TEST(States, AnAtomicIsItsValueAndOtherMemoryTheLastWriter) {
  const auto state_behind = [](const std::string& last, std::uint32_t value) {
    ExecutionBuilder builder;
    builder.read(2, kX, "look");
    store(builder, 1, kX, last, 0, value);
    builder.read(1, kY, "end").write(2, kY, "end of 2");
    return last_state(builder.get());
  };
  EXPECT_EQ(state_behind("a", 7), state_behind("b", 7));
  EXPECT_NE(state_behind("a", 7), state_behind("a", 8));
  EXPECT_NE(state_behind("a", 0), state_behind("b", 0)) << "values not known";
}

TEST(States, WhatIsAsAtTheBeginningIsNoPartOfIt) {
  const auto state_behind = [](std::uint32_t between, bool touched) {
    ExecutionBuilder builder;
    builder.write(2, kY, "begin");
    if (touched) {
      store(builder, 1, kX, "a", 5, between);
      store(builder, 1, kX, "b", between, 5);
      store(builder, 2, kX, "c", 5, 5);
    }
    builder.read(1, kY, "end").write(2, kY, "end of 2");
    return last_state(builder.get());
  };
  EXPECT_EQ(state_behind(6, true), state_behind(7, true));
  EXPECT_EQ(state_behind(6, true), state_behind(0, false));
}

TEST(States, ThreadsInTheSamePlaceAreInterchangeable) {
  ExecutionBuilder one, other;
  one.read(1, kX, "a").write(1, kX, "b").read(2, kX, "a");
  other.read(2, kX, "a").write(2, kX, "b").read(1, kX, "a");
  EXPECT_EQ(last_state(one.get()), last_state(other.get()));
}

TEST(States, OnlyStepsThatOthersNoticeMakeOne) {
  ExecutionBuilder builder;
  builder.write(1, kX, "a").write(1, kZ, "own").step(1, EventKind::Yield, 0, "yield").read(2, kX, "b");
  const auto states = states_of(builder.get());
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].choices, 1U);
  EXPECT_EQ(states[1].choices, 4U);
}

TEST(StateArchive, GoesBackByTheShortestWay) {
  StateArchive archive;
  EXPECT_TRUE(archive.draw(1).empty());
  EXPECT_EQ(archive.add({1, 2, 1, 2}, std::vector<State>{{7, 4}}, 0), 1U);
  EXPECT_EQ(archive.draw(1), (Choices{1, 2, 1, 2}));
  EXPECT_EQ(archive.add({2, 2, 1}, std::vector<State>{{7, 2}}, 0), 0U);
  EXPECT_EQ(archive.draw(2), (Choices{2, 2}));
  EXPECT_EQ(archive.add({1, 1, 1}, std::vector<State>{{7, 3}}, 0), 0U);
  EXPECT_EQ(archive.draw(3), (Choices{2, 2})) << "no longer ones";
  EXPECT_EQ(archive.size(), 1U);
  EXPECT_EQ(archive.returns(), 3U);
}

TEST(StateArchive, WhatWasTakenOverIsNotReachedAgain) {
  StateArchive archive;
  archive.add({1, 2, 3}, std::vector<State>{{7, 1}, {8, 2}, {9, 3}}, 2);
  EXPECT_EQ(archive.size(), 1U);
  EXPECT_EQ(archive.draw(1), (Choices{1, 2, 3}));
}

TEST(StateArchive, PrefersStatesThatWereSeldomReached) {
  StateArchive archive;
  for (int i = 0; i < 100; ++i) archive.add({1, 2}, std::vector<State>{{7, 1}, {8, 2}}, 0);
  archive.add({2, 2, 2}, std::vector<State>{{9, 3}}, 0);
  std::map<std::size_t, int> drawn;  // by length of the way
  for (std::uint64_t i = 0; i < 12; ++i) ++drawn[archive.draw(i).size()];
  EXPECT_GE(drawn[3], 6) << "until it was gone back to as often as it is worth";
  EXPECT_GT(drawn[1] + drawn[2], 0);
}

TEST(StateArchive, StatesBehindTheChoicesAreLeftOut) {
  StateArchive archive;
  EXPECT_EQ(archive.add({1}, std::vector<State>{{7, 1}, {8, 2}}, 0), 1U);
  EXPECT_EQ(archive.draw(1), Choices{1});
}

TEST(VariableProfile, CountsTheAccessesOfThreadsAndTheirChildren) {
  ExecutionBuilder builder;  // thread 0 creates all others
  builder.write(0, kX, "init").write(1, kX, "a").write(1, kX, "a").read(2, kX, "b").write(1, kZ, "own");
  VariableProfile profile;
  EXPECT_EQ(profile.draw(1), nullptr);
  profile.learn(builder.get());
  const VariableProfile::Variable* variable = profile.draw(5);
  ASSERT_NE(variable, nullptr);
  EXPECT_EQ(variable->address, kX);
  EXPECT_EQ(variable->total, 4U);
  EXPECT_EQ(variable->accesses, (std::vector<std::uint64_t>{4, 2, 1}));
}

TEST(VariableProfile, EachVariableIsDrawnAsOftenAsItIsTouched) {
  ExecutionBuilder builder;
  builder.write(1, kX, "a").read(2, kX, "b");
  for (int i = 0; i < 3; ++i) builder.write(1, kY, "c").read(2, kY, "d");
  VariableProfile profile;
  profile.learn(builder.get());
  std::map<std::uint64_t, int> drawn;
  for (std::uint64_t i = 0; i < 80; ++i) ++drawn[profile.draw(i)->address];
  EXPECT_EQ(drawn, (std::map<std::uint64_t, int>{{kX, 20}, {kY, 60}}));
}

// A copy of a whole struct touches each of its fields, and begins with none but the first.
TEST(VariableProfile, AFieldLiesWhereItBeginsNotWhereALongerAccessDoes) {
  ExecutionBuilder builder;
  builder.write(0, kX, "init");
  builder.get().events.back().size = 24;
  builder.read(1, kX + 16, "a").write(2, kX + 16, "b");
  VariableProfile profile;
  profile.learn(builder.get());
  ASSERT_NE(profile.draw(0), nullptr);
  EXPECT_EQ(profile.draw(0)->address, kX + 16);
}

// One thread hands something to another one, and all four use the rest.
TEST(VariableProfile, MemoryOfFewThreadsIsLeftOutWhenOtherMemoryIsOfHalfOfThem) {
  ExecutionBuilder all, few;
  for (int i = 0; i < 9; ++i) {
    all.write(1, kY, "hand").read(2, kY, "take");
    few.write(1, kY, "hand").read(2, kY, "take");
  }
  all.write(1, kX, "a").read(2, kX, "b").read(3, kX, "c");
  all.read(5, kZ, "own");
  few.read(5, kZ, "own");
  VariableProfile profile, other;
  profile.learn(all.get());
  for (std::uint64_t i = 0; i < 30; ++i) EXPECT_EQ(profile.draw(i)->address, kX);
  other.learn(few.get());
  EXPECT_EQ(other.draw(1)->address, kY) << "there is nothing else";
}

TEST(VariableProfile, LocksAreDrawnWhereNoMemoryIsShared) {
  ExecutionBuilder builder;
  builder.lock(1, kX).lock(1, kY).unlock(1, kY).unlock(1, kX).lock(2, kY).unlock(2, kY).lock(1, kZ);
  VariableProfile profile;
  profile.learn(builder.get());
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_NE(profile.draw(i), nullptr);
    EXPECT_EQ(profile.draw(i)->address, kY) << "the only one that both take";
  }
  EXPECT_EQ(profile.draw(1)->accesses, (std::vector<std::uint64_t>{4, 2, 2}));
  builder.write(3, kZ, "a").read(2, kZ, "b");
  profile.learn(builder.get());
  EXPECT_EQ(profile.draw(1)->total, 2U) << "memory, as soon as some is shared";
}

TEST(VariableProfile, AnExecutionThatWasCutTellsNothing) {
  ExecutionBuilder builder;
  builder.write(1, kX, "a").read(2, kX, "b");
  builder.get().outcome.end = ExecutionEnd::Cut;
  VariableProfile profile;
  profile.learn(builder.get());
  EXPECT_EQ(profile.draw(1), nullptr);
}

}  // namespace
}  // namespace simrt::schedule
